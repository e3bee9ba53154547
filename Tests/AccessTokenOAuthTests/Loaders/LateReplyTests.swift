import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A reply that comes after the deadline", .timeLimit(.minutes(2)))
struct LateReplyTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    /// A load that has timed out, at a server whose first reply waits for the gate.
    private func withLateReply<Value>(
        _ late: (status: Int, body: String) = (200, tokens("A1", "RT1")),
        store: TroubledStore? = nil,
        _ body: (ScriptedServer, TroubledStore, OAuthLoader, ManualClock, Gate) async throws -> Value
    ) async throws {
        let gate = Gate()
        try await withServer { connection, request in
            guard connection.number == 1 else {
                return connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
            }
            gate.pass()
            connection.reply(late.status, late.body)
        } _: { server in
            let clock = ManualClock()
            let store = store ?? TroubledStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            let load = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await load.value }
            _ = try await body(server, store, loader, clock, gate)
            gate.open()
        }
    }

    @Test func `is saved, and adopted by the next load`() async throws {
        let isSaved = Event()
        try await withLateReply(store: TroubledStore(start) { _ in isSaved.happen() }) {
            (server, store, loader, clock, gate) async throws in
            gate.open()
            await isSaved.wait()
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is waited for by the next load, which does not send the refresh token a second time`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            let load = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 }
            gate.open()
            #expect(try await load.value.value == "A1")
            #expect(try await store.version == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is not waited for for ever`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            let second = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await second.value }
            #expect(try await loader.load(replacing: old).value == "A2")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `takes the place of nothing newer`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            let newer = Credential(accessToken: AccessToken(value: "newer"), refreshToken: "newer")
            try await store.base.update { _ in .replace(newer) }
            gate.open()
            #expect(try await loader.load(replacing: old).value == "newer")
            #expect(try await store.credential == newer)
            #expect(!server.requests.contains { $0.line.contains("revoke") })
        }
    }

    @Test func `brings no session back that has ended, and is revoked`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            await loader.signOut()
            #expect(server.requests.last?.body.hasPrefix("token=RT0&") == true)
            gate.open()
            await yieldUntil { server.requests.count == 3 }
            #expect(server.requests.last?.body.hasPrefix("token=RT1&") == true)
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: old) }
            #expect(try await store.credential == nil)
        }
    }

    @Test func `that refuses the refresh token keeps it from being sent again`() async throws {
        try await withLateReply((400, #"{"error":"invalid_grant"}"#)) {
            (server, store, loader, clock, gate) async throws in
            gate.open()
            await yieldUntil { loader.memory.withLock { $0.refused != nil } }
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `that cannot be saved is saved by the next load`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            store.fail(1)
            gate.open()
            await yieldUntil { store.changes.count == 1 }
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }
}
