import AccessTokenAdapters
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A server that says little and forgives nothing", .eightAtATime, .timeLimit(.minutes(10)))
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

    @Test func `is understood to mean the grant, if the app knows that it does`() async throws {
        try await withTerseServer { (server, _, endpoint) async throws in
            var endpoint = endpoint
            endpoint.failureMapping = { reply in
                reply.status == 400 && reply.body.isEmpty ? .refused("invalid_grant") : nil
            }
            _ = try await endpoint.exchange(.refreshToken("RT0"))
            let store = MemoryCredentialStore(TerseServer.credential)
            let service = AsyncAccessTokenService(
                loader: OAuthLoader(endpoint: endpoint, store: store),
                policy: .withoutLoadDeadline
            )
            await service.signIn(AccessToken(value: "A0"))
            await service.invalidate(AccessToken(value: "A0"))
            let error = await #expect(throws: OAuthError.self) { try await service.token() }
            #expect(error?.requiresSignIn == true)
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 2)
        }
    }
}

/// What a server can be like that is none of those that are installed.
///
/// Every refusal is a 400 with nothing in it, HTTP Basic is not decoded, and a wrong secret costs the refresh token its life.
final class TerseServer: Sendable {
    struct State {
        var generation = 0
        /// The refresh token that is good; `nil` if none is.
        var current: String? = "RT0"
    }

    static let clientID = "app"
    static let secret = "s3cr:t %+/&"

    let state = Locked(State())

    /// What a user has who has signed in there.
    static let credential = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")

    func answer(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
        let proof = Data("\(Self.clientID):\(Self.secret)".utf8).base64EncodedString()
        let rotated = state.withLock { state -> Int? in
            guard request.fields["authorization"] == "Basic \(proof)" else {
                state.current = nil
                return nil
            }
            guard let current = state.current, request.body.contains("refresh_token=\(current)") else { return nil }
            state.generation += 1
            state.current = "RT\(state.generation)"
            return state.generation
        }
        guard let rotated else { return connection.reply(400, "", fields: [:]) }
        connection.reply(200, tokens("A\(rotated)", "RT\(rotated)"))
    }
}

/// Runs a test against such a server.
func withTerseServer(
    as authentication: ClientAuthentication = .basicRaw(clientID: TerseServer.clientID, secret: TerseServer.secret),
    _ body: (ScriptedServer, TerseServer, TokenEndpoint) async throws -> Void
) async throws {
    let terse = TerseServer()
    try await withServer { connection, request in
        terse.answer(connection, request)
    } _: { server in
        try await body(server, terse, try server.endpoint(authentication: authentication))
    }
}
