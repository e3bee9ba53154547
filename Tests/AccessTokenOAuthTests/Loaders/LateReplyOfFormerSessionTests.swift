import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A late reply of a former session", .timeLimit(.minutes(2)))
struct LateReplyOfFormerSessionTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    @Test func `a late reply of a former session does not push out what the present one has not saved`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = ManualClock()
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            let first = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await first.value }
            try await loader.signIn(Credential(refreshToken: "NEW"))
            // As after a load whose credential the store did not take.
            let unsaved = Credential(accessToken: AccessToken(value: "A2"), refreshToken: "RT2")
            loader.memory.withLock { $0.unsaved = .init(credential: unsaved, base: 2) }
            let isTaken = Event()
            store.afterNextUpdate { isTaken.happen() }
            gate.open()
            await isTaken.wait()
            #expect(try await loader.load(replacing: old).value == "A2")
            #expect(try await store.base.refreshToken == "RT2")
            #expect(server.requests.count == 1)
        }
    }
}
