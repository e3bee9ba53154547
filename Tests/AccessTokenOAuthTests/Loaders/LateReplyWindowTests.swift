import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A late reply beside a load", .timeLimit(.minutes(2)))
struct LateReplyWindowTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    @Test func `a late reply that comes while a load is about to send keeps it from sending`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = HookedClock()
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            let first = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await first.value }
            // The look at the clock in `exchange(of:in:)`: nothing is unsaved up to here, and the reply comes now.
            clock.atNextLook {
                gate.open()
                while loader.memory.withLock({ $0.unsaved == nil }) { Thread.sleep(forTimeInterval: 0.001) }
            }
            _ = try await loader.load(replacing: old)
            #expect(server.requests.map(\.body).filter { $0.contains("refresh_token=RT0") }.count == 1)
            #expect(try await store.refreshToken == "RT1")
        }
    }
}
