import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

extension RealServerTests {
    @Suite("A sign-out")
    struct SessionEndTests {
        @Test(arguments: RealServer.all)
        func `during a load answers the callers, and what the load brings is worth nothing`(server: RealServer)
            async throws
        {
            let credential = try await server.signIn()
            let old = try #require(credential.accessToken)
            let store = MemoryCredentialStore(credential)
            let (isCarriedOut, gate) = (Event(), Gate())
            let before = try server.tokenRequests
            try await withProxy(to: server, [.holdReply(isCarriedOut, gate)]) { proxy in
                let loader = OAuthLoader(endpoint: try server.endpoint(by: proxy), store: store) { error in
                    Issue.record("\(error)")
                }
                let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
                let legacyService = CallbackServiceAdapter(of: service)
                let services = [service, AsyncServiceAdapter(of: legacyService)] as [any AsyncAccessTokenProviding]
                #expect(try await service.token() == old)
                await service.invalidate(old)
                let callers = (0..<100).map { number in Task { try await services[number % 2].token() } }
                await isCarriedOut.wait()
                let signOut = Task { await service.signOut() }
                for caller in callers { await #expect(throws: AccessTokenError.signedOut) { try await caller.value } }
                gate.open()
                await signOut.value
                #expect(try await store.credential == nil)
                #expect(await server.tokenRequests(since: before, expected: 1) == 1)
                guard server.revokes else { return }
                // What was revoked is what the load had brought: its body names it.
                let revocation = try #require(proxy.requests.last)
                #expect(revocation.line.hasPrefix("POST /o/revoke_token/ "))
                let spent = try #require(credential.refreshToken)
                #expect(!revocation.body.contains(spent))
                let value = try #require(revocation.body.split(separator: "&").first { $0.hasPrefix("token=") })
                await refuses("invalid_grant") {
                    _ = try await server.endpoint().exchange(.refreshToken(String(value.dropFirst(6))))
                }
            }
        }

        @Test(arguments: RealServer.all.filter(\.revokes))
        func `leaves nothing that could be used`(server: RealServer) async throws {
            let credential = try await server.signIn()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(credential)) {
                error in
                Issue.record("\(error)")
            }
            await loader.signOut()
            await refuses("invalid_grant") {
                _ = try await server.endpoint().exchange(.refreshToken(try #require(credential.refreshToken)))
            }
            #expect(try await server.status(for: try #require(credential.accessToken)) == 401)
        }
    }
}
