import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A reply that comes after the caller's deadline", .takesTurns, .endsHangs)
struct LateReplyTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")
    private let old = AccessToken(value: "A0")

    private struct Scene: Sendable {
        let server: ScriptedServer
        let store: TroubledStore
        let loader: OAuthLoader
        let clock: ManualClock
        /// Holds the first reply back.
        let gate: Gate
        let unheard: UnheardErrors

        func sent(_ token: String) -> Int { server.requests.count { $0.body.contains("refresh_token=\(token)&") } }
        func revoked(_ token: String) -> Bool { server.requests.contains { $0.body.hasPrefix("token=\(token)&") } }
    }

    /// A load that has timed out, at a server whose first reply waits for the gate.
    private func withLateReply(
        _ late: (status: Int, body: String) = (200, tokens("A1", "RT1")),
        _ body: (Scene) async throws -> Void
    ) async throws {
        let gate = Gate()
        try await withServer { connection, request in
            guard request.line.contains("/token") else { return connection.reply(200, "") }
            guard connection.number == 1 else {
                return connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
            }
            gate.pass()
            connection.reply(late.status, late.body)
        } _: { server in
            let (clock, store, unheard) = (ManualClock(), TroubledStore(start, takeOverDelay: 2), UnheardErrors())
            let endpoint = try server.endpoint(clock: clock)
            let loader = OAuthLoader(endpoint: endpoint, store: store, onUnheardError: unheard.hear)
            let load = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
            clock.advance(by: TokenEndpoint.usualDeadline)
            await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
            defer { gate.open() }
            try await body(
                Scene(server: server, store: store, loader: loader, clock: clock, gate: gate, unheard: unheard)
            )
        }
    }

    @Test func `is saved, and is the answer of the next load, which sends nothing`() async throws {
        try await withLateReply { (scene) async throws in
            // Set by hand, the wall clock has nothing to say in it.
            scene.clock.setWallClock(to: scene.clock.now.addingTimeInterval(86_400))
            let load = Task { try await scene.loader.load(replacing: old) }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.gate.open()
            #expect(try await load.valueInTime.value == "A1")
            #expect(try await scene.store.refreshToken == "RT1")
            #expect(scene.server.requests.count == 1)
        }
    }

    @Test func `is waited for by a load whose time is over as well, and which then sends nothing`() async throws {
        try await withLateReply((500, "")) { (scene) async throws in
            let isOut = Event()
            let second = Task {
                await #expect(throws: OAuthError.timedOut) { try await scene.loader.load(replacing: old) }
                isOut.happen()
            }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.clock.advance(by: 30)
            await isOut.wait()
            await second.value
            scene.gate.open()
            // The note is gone, and the one whose caller has left does nothing.
            #expect(try await scene.loader.load(replacing: old).value == "A2")
            #expect(scene.sent("RT0") == 2)
        }
    }

    @Test func `that refuses the refresh token removes it, and it is not sent again`() async throws {
        try await withLateReply((400, #"{"error":"invalid_grant"}"#)) { (scene) async throws in
            scene.gate.open()
            await #expect(throws: AccessTokenError.signedOut) { try await scene.loader.load(replacing: old) }
            #expect(scene.sent("RT0") == 1)
            await yieldUntil { !scene.unheard.all.isEmpty }
            #expect(scene.unheard.all.map { $0 as? OAuthError } == [.refused("invalid_grant")])
        }
    }

    @Test func `that cannot be saved is told, and saved by the next load`() async throws {
        try await withLateReply { (scene) async throws in
            scene.store.fail(3)
            scene.gate.open()
            await yieldUntil { !scene.unheard.all.isEmpty }
            #expect(try await scene.loader.load(replacing: old).value == "A1")
            #expect(try await scene.store.refreshToken == "RT1")
            #expect(scene.unheard.all.count { $0 is TroubledStore.Trouble } == 1)
            #expect(scene.server.requests.count == 1)
        }
    }

    @Test func `keeps no sign-out waiting for longer than the deadline, and what it brings is revoked`() async throws {
        try await withLateReply { (scene) async throws in
            let signOut = Task { await scene.loader.signOut() }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.clock.advance(by: 30)
            await signOut.value
            #expect(scene.revoked("RT0"))
            #expect(try await scene.store.credential == nil)
            scene.gate.open()
            await yieldUntil { scene.revoked("RT1") }
            await #expect(throws: AccessTokenError.signedOut) { try await scene.loader.load(replacing: old) }
        }
    }

    @Test func `is saved if the store did not take the sign-in that gave it up, and no load sends beside it`()
        async throws
    {
        try await withLateReply { (scene) async throws in
            scene.store.fail(1)
            let signIn = Task { try await scene.loader.signIn(Credential(refreshToken: "NEW")) }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.clock.advance(by: 30)
            await #expect(throws: TroubledStore.Trouble()) { try await signIn.value }
            let load = Task { try await scene.loader.load(replacing: old) }
            // The caller's deadline, and the pause before the next look.
            await yieldUntil { scene.clock.pendingTimers == 2 }
            scene.gate.open()
            await yieldUntil { scene.loader.memory.isOwing }
            scene.clock.advance(by: 1)
            #expect(try await load.valueInTime.value == "A1")
            #expect(try await scene.store.refreshToken == "RT1")
            #expect(scene.server.requests.count == 1)
        }
    }

    @Test func `that brings nothing lets the next load send, though the sign-in that gave it up has failed`()
        async throws
    {
        try await withLateReply((500, "")) { (scene) async throws in
            scene.store.fail(1)
            let signIn = Task { try await scene.loader.signIn(Credential(refreshToken: "NEW")) }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.clock.advance(by: 30)
            await #expect(throws: TroubledStore.Trouble()) { try await signIn.value }
            scene.gate.open()
            await yieldUntil { scene.loader.memory.withLock { $0.sending.isEmpty } }
            #expect(try await scene.loader.load(replacing: old).value == "A2")
            #expect(scene.sent("RT0") == 2)
        }
    }

    @Test func `that never comes from code of the app's own is waited for no longer than the reply to any other load`()
        async throws
    {
        let (clock, store) = (ManualClock(), TroubledStore(start, takeOverDelay: 2))
        let (isSent, isOver) = (Event(), Event())
        defer { isOver.happen() }
        let exchange = TokenExchange(deadline: 30, clock: clock) { _ in
            if isSent.hasHappened { return TokenResponse(accessToken: AccessToken(value: "A1"), refreshToken: "RT1") }
            isSent.happen()
            await isOver.wait()
            throw OAuthError.timedOut
        }
        let loader = OAuthLoader(exchange, store: store)
        let first = Task { try await loader.load(replacing: old) }
        await isSent.wait()
        // The caller's deadline, and the end of the wait for the reply.
        await yieldUntil { clock.pendingTimers == 2 }
        clock.advance(by: 1)
        store.fail(1)
        let signIn = Task { try await loader.signIn(Credential(refreshToken: "NEW")) }
        await yieldUntil { clock.pendingTimers == 3 }
        clock.advance(by: 29)
        await #expect(throws: OAuthError.timedOut) { try await first.valueInTime }
        clock.advance(by: 1)
        await #expect(throws: TroubledStore.Trouble()) { try await signIn.value }
        #expect(loader.memory.withLock { $0.sending.count } == 1)
        clock.advance(by: 120)
        #expect(loader.memory.withLock { $0.sending.isEmpty })
        #expect(try await loader.load(replacing: old).value == "A1")
    }

    @Test func `keeps no sign-in waiting for longer than the deadline, and leaves the new session alone`() async throws
    {
        try await withLateReply { (scene) async throws in
            let signIn = Task { try await scene.loader.signIn(Credential(refreshToken: "NEW")) }
            await yieldUntil { scene.clock.pendingTimers == 1 }
            scene.clock.advance(by: 30)
            try await signIn.value
            #expect(try await scene.loader.load(replacing: nil).value == "A2")
            scene.gate.open()
            await yieldUntil { scene.revoked("RT1") }
            #expect(try await scene.store.refreshToken == "RT2")
        }
    }
}
