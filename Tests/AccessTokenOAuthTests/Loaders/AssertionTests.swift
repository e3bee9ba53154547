import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A client assertion that is never made", .timeLimit(.minutes(1)))
struct AssertionTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")

    @Test func `holds neither a load nor a sign-out for ever`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1"))
        } _: { server in
            let clock = ManualClock()
            let never = Event()
            let endpoint = try server.endpoint(
                clock: clock,
                authentication: .assertion(clientID: "app") {
                    await never.wait()
                    return "J"
                }
            )
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let load = Task { try await loader.load(replacing: start.accessToken) }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.assertionTimedOut) { try await load.value }
            let signOut = Task { await loader.signOut() }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 30)
            await signOut.value
            #expect(try await store.load() == nil)
            #expect(server.requests.isEmpty)
            never.happen()
        }
    }
}
