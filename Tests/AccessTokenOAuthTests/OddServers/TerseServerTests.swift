import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A server that says little and forgives nothing", .timeLimit(.minutes(2)))
struct TerseServerTests {
    @Test func `that does not decode Basic is served by raw Basic, and rotates`() async throws {
        try await withTerseServer { (server, _, endpoint) async throws in
            let store = MemoryCredentialStore(TerseServer.credential)
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let first = try await loader.load(replacing: TerseServer.credential.accessToken)
            #expect(try await loader.load(replacing: first).value == "A2")
            #expect(try await store.refreshToken == "RT2")
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        arguments: [
            ClientAuthentication.basic(clientID: TerseServer.clientID, secret: TerseServer.secret),
            .basicRaw(clientID: TerseServer.clientID, secret: "wrong"),
            .postBody(clientID: TerseServer.clientID, secret: TerseServer.secret),
            .none(clientID: TerseServer.clientID),
        ]
    )
    func `is never tried with a second proof, which could only cost the refresh token its life`(
        authentication: ClientAuthentication
    ) async throws {
        try await withTerseServer(as: authentication) { (server, terse, endpoint) async throws in
            let store = MemoryCredentialStore(TerseServer.credential)
            let loader = RetryingLoader(OAuthLoader(endpoint: endpoint, store: store), clock: InstantClock())
            let error = await #expect(throws: OAuthError.self) {
                try await loader.load(replacing: TerseServer.credential.accessToken)
            }
            #expect(error?.requiresSignIn == false)
            #expect(error?.isTransient == false)
            #expect(error.map { "\($0)".contains("400") } == true)
            #expect(server.requests.count == 1)
            // The client cannot know that the grant is gone, and does not throw it away.
            #expect(terse.state.withLock { $0.current } == nil)
            #expect(try await store.credential == TerseServer.credential)
        }
    }

    @Test func `is understood to mean the grant, if the endpoint is told that it does`() async throws {
        try await withTerseServer { (server, _, endpoint) async throws in
            var endpoint = endpoint
            endpoint.treatsEmptyRefusalAsInvalidGrant = true
            _ = try await endpoint.exchange(.refreshToken("RT0"))
            let store = MemoryCredentialStore(TerseServer.credential)
            let service = AsyncAccessTokenService(loader: OAuthLoader(endpoint: endpoint, store: store))
            await service.signIn(AccessToken(value: "A0"))
            await service.invalidate(AccessToken(value: "A0"))
            let error = await #expect(throws: OAuthError.self) { try await service.token() }
            #expect(error?.requiresSignIn == true)
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 2)
            // Unlike with others, the newest access token lives on after the reuse.
            #expect(try await status(server, AccessToken(value: "A1")) == 200)
        }
    }

    @Test func `whose 401 has no challenge is answered by one exchange for all callers`() async throws {
        try await withTerseServer { (server, terse, endpoint) async throws in
            let services = Services(endpoint, MemoryCredentialStore(TerseServer.credential))
            for service in services.all { #expect(try await service.token().value == "A0") }
            terse.state.withLock { $0.isAccessRejected = true }
            let results = await services.callers(100) { service in
                let token = try await service.token()
                let status = try await status(server, token)
                guard status == 401 else { return [status] }
                await service.invalidate(token)
                return [status, try await self.status(server, try await service.token())]
            }
            let statuses = try results.map { try $0.get() }
            #expect(statuses.allSatisfy { $0.last == 200 })
            #expect(statuses.contains([401, 200]))
            #expect(server.requests.count { $0.line.hasPrefix("POST ") } == 1)
        }
    }

    private func status(_ server: ScriptedServer, _ token: AccessToken) async throws -> Int {
        var request = URLRequest(url: try server.url)
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return try await withCheckedThrowingContinuation { [request] continuation in
            EndpointReply.reply(to: request, idleLimit: 60) { continuation.resume(with: $0.map(\.status)) }
        }
    }
}
