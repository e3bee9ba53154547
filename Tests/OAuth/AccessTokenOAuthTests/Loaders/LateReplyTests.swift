import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A reply that comes after the deadline", .eightAtATime, .timeLimit(.minutes(10)))
struct LateReplyTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    /// A load that has timed out, at a server whose first reply waits for the gate.
    private func withLateReply<Value>(
        _ late: (status: Int, body: String) = (200, tokens("A1", "RT1")),
        store: TroubledStore? = nil,
        onUnheardError: (@Sendable (any Error) -> Void)? = nil,
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
            let loader = OAuthLoader(
                endpoint: try server.endpoint(clock: clock),
                store: store,
                onUnheardError: onUnheardError
            )
            await loader.timeOut(replacing: old, at: server, by: clock)
            defer { gate.open() }
            _ = try await body(server, store, loader, clock, gate)
        }
    }

    @Test func `is saved, and adopted by the next load`() async throws {
        let isSaved = Event()
        try await withLateReply(store: TroubledStore(start) { _ in isSaved.happen() }) {
            (server, store, loader, clock, gate) async throws in
            gate.open()
            await isSaved.wait()
            await yieldUntil { loader.memory.withLock { $0.outstanding == nil } }
            #expect(loader.memory.withLock { $0.outstanding == nil && $0.unsaved == nil })
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is waited for by the next load, which does not send the refresh token a second time`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            let load = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 }
            gate.open()
            #expect(try await load.valueInTime.value == "A1")
            #expect(try await store.version == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is not waited for for ever`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            let second = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 }
            clock.advance(by: 30)
            await #expect(throws: OAuthError.timedOut) { try await second.valueInTime }
            #expect(try await loader.load(replacing: old).value == "A2")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `is waited for also if the wall clock is set ahead meanwhile`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            clock.setWallClock(to: clock.now.addingTimeInterval(3600))
            let load = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 || server.requests.count == 2 }
            gate.open()
            #expect(try await load.valueInTime.value == "A1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is not waited for any longer if the wall clock is set back meanwhile`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            clock.setWallClock(to: clock.now.addingTimeInterval(-3600))
            clock.advance(by: 30)
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

    @Test func `of one session keeps no other session waiting`() async throws {
        try await withLateReply { (server, store, loader, clock, gate) async throws in
            try await loader.signIn(Credential(refreshToken: "NEW"))
            let load = Task { try await loader.load(replacing: nil) }
            #expect(try await load.valueInTime.value == "A2")
            #expect(server.requests.last?.body.contains("refresh_token=NEW&") == true)
        }
    }

    @Test func `that cannot be saved is told, and saved by the next load`() async throws {
        let isTold = Event()
        try await withLateReply(onUnheardError: { _ in isTold.happen() }) {
            (server, store, loader, clock, gate) async throws in
            store.fail(1)
            gate.open()
            #expect(await isTold.happens())
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }
}

@Suite("A late reply of a former session", .eightAtATime, .timeLimit(.minutes(10)))
struct LateReplyOfFormerSessionTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    @Test func `a late reply does not push out what was issued without a record and is not saved yet`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let clock = ManualClock()
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            await loader.timeOut(replacing: old, at: server, by: clock)
            try await store.base.update { _ in .remove }
            loader.memory.withLock { $0.unsaved = .init(credential: Credential(refreshToken: "OWN"), base: nil) }
            let isTaken = Event()
            store.afterNextUpdate { isTaken.happen() }
            gate.open()
            #expect(await isTaken.happens())
            #expect(loader.memory.withLock { $0.unsaved?.credential.refreshToken } == "OWN")
        }
    }

    @Test func `a late failure of an older exchange does not make a newer one forgotten`() async throws {
        let (first, second) = (Gate(), Gate())
        try await withServer { connection, _ in
            switch connection.number {
            case 1:
                first.pass()
                connection.reply(500, "")
            case 2:
                second.pass()
                connection.reply(200, tokens("A2", "RT2"))
            default: connection.reply(200, tokens("A3", "RT3"))
            }
        } _: { server in
            let clock = ManualClock()
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            for number in 1...2 {
                await loader.timeOut(replacing: old, at: server, by: clock)
                // Nobody waits for the first one any more.
                if number == 1 { clock.advance(by: 31) }
            }
            let settled = try #require(loader.memory.withLock { $0.outstanding })
            #expect(settled.number == 2)
            first.open()
            let third = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 }
            // The first one's connection is over when its reply was read.
            await yieldUntil { server.closedConnections == 1 }
            #expect(loader.memory.withLock { $0.outstanding?.number } == 2)
            second.open()
            #expect(try await third.valueInTime.value == "A2")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a late reply of a former session does not push out what the present one has not saved`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = ManualClock()
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            await loader.timeOut(replacing: old, at: server, by: clock)
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

@Suite("A late reply beside a load", .eightAtATime, .timeLimit(.minutes(10)))
struct LateReplyWindowTests {
    private let old = AccessToken(value: "A0", expiration: Date(timeIntervalSince1970: 0))
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    @Test func `a load that times out does not forget what a late reply has brought meanwhile`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            gate.pass()
            connection.reply(500, "")
        } _: { server in
            defer { gate.open() }
            let clock = ManualClock()
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            // After the load has let go of the store, and before it goes on: a reply whose credential cannot be saved.
            store.afterNextUpdate {
                loader.memory.withLock { $0.unsaved = .init(credential: Credential(refreshToken: "RT1"), base: 1) }
            }
            await loader.timeOut(replacing: old, at: server, by: clock)
            #expect(loader.memory.withLock { $0.unsaved?.credential.refreshToken } == "RT1")
        }
    }

    @Test func `a late reply that comes while a load is about to send keeps it from sending`() async throws {
        // Within the time in which loads wait for a reply, and after it.
        for later in [0, 100] as [TimeInterval] { try await keepsFromSending(later: later) }
    }

    private func keepsFromSending(later: TimeInterval) async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = HookedClock()
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            await loader.timeOut(replacing: old, at: server, by: clock)
            clock.advance(by: later)
            // The look at the clock in `adoptable(_:replacing:)`: nothing is unsaved up to here, the reply comes now, and
            // the exchange is looked up after it.
            clock.atNextLook {
                gate.open()
                // It blocks a thread of the pool, of which there may be two.
                for _ in 0..<5000 where loader.memory.withLock({ $0.unsaved == nil }) {
                    Thread.sleep(forTimeInterval: 0.001)
                }
            }
            _ = try await loader.load(replacing: nil)
            #expect(server.requests.map(\.body).filter { $0.contains("refresh_token=RT0") }.count == 1)
            #expect(try await store.refreshToken == "RT1")
        }
    }
}
