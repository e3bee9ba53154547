import AccessTokenAdapters
import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("A request whose token is rejected", .takesTurns, .endsHangs)
struct RepeatedRequestTests {
    enum World: CaseIterable {
        case async, callback
    }

    let clock = ManualClock()

    /// Takes tokens, and answers 401 or 200.
    private final class Server: Sendable {
        private let state = Locked<(sent: [String], refuses: Bool)>(([], true))

        var sent: [String] { state.withLock { $0.sent } }

        func accepts() { state.withLock { $0.refuses = false } }

        func status(for token: AccessToken) -> Int {
            state.withLock { state in
                state.sent.append(token.value)
                return state.refuses ? 401 : 200
            }
        }
    }

    /// Sends a request in one of both ways; returns its status.
    private func send(
        _ doors: Stack.Doors,
        _ world: World,
        _ request: @escaping @Sendable (AccessToken) async throws -> Int
    ) async throws -> Int {
        switch world {
        case .async:
            return try await doors.async.withToken(isRejected: { $0 == 401 }, send: request)
        case .callback:
            return try await withCheckedThrowingContinuation { continuation in
                doors.callback.withToken {
                    $0 == 401
                } send: { token, reply in
                    Task { do { reply(.success(try await request(token))) } catch { reply(.failure(error)) } }
                } then: {
                    continuation.resume(with: $0)
                }
            }
        }
    }

    // MARK: Sessions

    /// How the session of a request ends while the request runs.
    enum End: CaseIterable {
        case signOut, signIn, signOutAndSignIn, signInWithoutToken
    }

    @Test(arguments: Stack.allCases.filter { !$0.isForeign }, End.allCases)
    func `is not sent again in another session`(_ stack: Stack, _ end: End) async throws {
        for world in World.allCases {
            let server = Server()
            let loads = Locked(0)
            let loader = Loader {
                loads.withLock { $0 += 1 }
                return AccessToken(value: "loaded")
            }
            let doors = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy())
            await onThreadOfItsOwn { doors.signIn(AccessToken(value: "of Ann")) }
            let status = try await send(doors, world) { token in
                let status = server.status(for: token)
                if end == .signOut || end == .signOutAndSignIn { await doors.async.signOut() }
                if end != .signOut {
                    let token = end == .signInWithoutToken ? nil : AccessToken(value: "of Bob")
                    await onThreadOfItsOwn { doors.signIn(token) }
                }
                return status
            }
            #expect(status == 401)
            #expect(server.sent == ["of Ann"])
            #expect(loads.withLock { $0 } == 0, "a rejection of the former session loads nothing in the next one")
        }
    }

    /// The session ends while the request waits for the next token.
    @Test(arguments: Stack.allCases.filter { !$0.isForeign }, World.allCases)
    func `is not sent with the token that a sign-in brings in place of a load`(
        _ stack: Stack,
        _ world: World
    ) async throws {
        let server = Server()
        let (isLoading, mayEnd) = (Event(), Event())
        let loader = Loader {
            isLoading.happen()
            await mayEnd.wait()
            return AccessToken(value: "loaded")
        }
        let doors = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy())
        await onThreadOfItsOwn { doors.signIn(AccessToken(value: "of Ann")) }
        let request = Task { try await send(doors, world) { server.status(for: $0) } }
        await isLoading.wait()
        await onThreadOfItsOwn { doors.signIn(AccessToken(value: "of Bob")) }
        #expect(try await request.valueInTime == 401)
        #expect(server.sent == ["of Ann"])
        mayEnd.happen()
    }

    /// The session begins while the request waits for its first token.
    @Test(arguments: Stack.allCases.filter { !$0.isForeign }, World.allCases)
    func `is sent again in the session in which it was sent`(_ stack: Stack, _ world: World) async throws {
        let server = Server()
        let (isLoading, mayEnd) = (Event(), Event())
        let loader = Loader {
            isLoading.happen()
            await mayEnd.wait()
            return AccessToken(value: "loaded")
        }
        let doors = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy())
        let request = Task {
            try await send(doors, world) { token in
                if token.value == "loaded" { server.accepts() }
                return server.status(for: token)
            }
        }
        await isLoading.wait()
        await onThreadOfItsOwn { doors.signIn(AccessToken(value: "of Bob")) }
        mayEnd.happen()
        #expect(try await request.valueInTime == 200)
        #expect(server.sent == ["of Bob", "loaded"])
    }

    /// What a look finds while a request of Ann's runs, whose session another process has ended.
    enum Found: CaseIterable {
        case nobody, anotherUser, userOfTheNewToken
    }

    @Test(arguments: [Stack.queue, .actor], World.allCases)
    func `is not sent again for another user than the one whom the last look found`(
        _ stack: Stack,
        _ world: World
    ) async throws {
        for found in Found.allCases {
            let server = Server()
            let (ann, bob) = (AccessToken(value: "of Ann"), AccessToken(value: "of Bob"))
            let doors = stack.make(Loader { bob }, clock, nil, executor: nil, policy: AccessTokenPolicy())
            let shown = try #require(doors.async as? any SessionShowing)
            await onThreadOfItsOwn { doors.signIn(ann) }
            try await shown.lookAtStore { StoredSession(token: ann, subject: "Ann") }
            let status = try await send(doors, world) { token in
                if found == .userOfTheNewToken {
                    await doors.async.invalidate(ann)
                    _ = try? await doors.async.token()
                }
                let stored = found == .nobody ? nil : StoredSession(token: bob, subject: "Bob")
                try? await shown.lookAtStore { stored }
                return server.status(for: token)
            }
            #expect(status == 401)
            #expect(server.sent == ["of Ann"])
        }
    }

    // MARK: A server that refuses every token

    /// A stack whose loader brings T1, T2, …; and how many it has brought.
    private func countingStack(_ stack: Stack) -> (Stack.Doors, loads: @Sendable () -> Int) {
        let loads = Counter()
        let loader = Loader { AccessToken(value: "T\(loads.next())") }
        return (stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy()), { loads.value })
    }

    private final class Counter: Sendable {
        private let count = Locked(0)
        var value: Int { count.withLock { $0 } }
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    @Test(arguments: Stack.allCases.filter { !$0.isForeign }, World.allCases)
    func `by a server that refuses every token costs three loads, and one a minute`(
        _ stack: Stack,
        _ world: World
    ) async throws {
        let server = Server()
        let (doors, loads) = countingStack(stack)
        for _ in 1...20 { _ = try await send(doors, world) { server.status(for: $0) } }
        #expect(loads() == 3)
        clock.advance(by: 59)
        _ = try await send(doors, world) { server.status(for: $0) }
        #expect(loads() == 3)
        clock.advance(by: 1)
        for _ in 1...20 { _ = try await send(doors, world) { server.status(for: $0) } }
        #expect(loads() == 4)
    }

    private struct Offline: Error {}

    @Test(arguments: World.allCases)
    func `is not sent again because another one was lost on its way`(_ world: World) async throws {
        let (doors, loads) = countingStack(.queue)
        let (isSent, mayFail) = (Event(), Event())
        let lost = Task {
            try await send(doors, world) { token in
                guard token.value == "T2" else { return 401 }
                isSent.happen()
                await mayFail.wait()
                throw Offline()
            }
        }
        await isSent.wait()
        for _ in 1...2 { _ = try await send(doors, world) { _ in 401 } }
        mayFail.happen()
        await #expect(throws: Offline.self) { try await lost.valueInTime }
        _ = try await send(doors, world) { _ in 401 }
        #expect(loads() == 4)
    }

    @Test(arguments: Engine.allCases)
    func `is sent again after the pause ended with a token that is accepted`(_ engine: Engine) async throws {
        let server = Server()
        let (doors, loads) = countingStack(engine == .queue ? .queue : .actor)
        for _ in 1...3 { _ = try await send(doors, .async) { server.status(for: $0) } }
        clock.advance(by: 60)
        // Refuses what the service has, and accepts what comes then.
        let status = try await send(doors, .async) { token in
            if token.value == "T4" { server.accepts() }
            return server.status(for: token)
        }
        #expect(status == 200)
        for round in 5...6 {
            // As if each token was revoked some time after it had been accepted.
            let status = try await send(doors, .async) { $0.value == "T\(round)" ? 200 : 401 }
            #expect(status == 200)
        }
        #expect(loads() == 6)
    }

    @Test(arguments: Engine.allCases)
    func `is sent again in the next session, whatever the last one's server refused`(_ engine: Engine) async throws {
        let server = Server()
        let (doors, loads) = countingStack(engine == .queue ? .queue : .actor)
        for _ in 1...3 { _ = try await send(doors, .async) { server.status(for: $0) } }
        await onThreadOfItsOwn { doors.signIn(AccessToken(value: "of Bob")) }
        _ = try await send(doors, .async) { server.status(for: $0) }
        #expect(server.sent.suffix(2) == ["of Bob", "T4"])
        #expect(loads() == 4)
    }

    @Test(arguments: Engine.allCases)
    func `is sent again for another user, whatever the last one's server refused`(_ engine: Engine) async throws {
        let server = Server()
        let (doors, loads) = countingStack(engine == .queue ? .queue : .actor)
        let shown = try #require(doors.async as? any SessionShowing)
        try await shown.lookAtStore { StoredSession(subject: "Ann") }
        for _ in 1...3 { _ = try await send(doors, .async) { server.status(for: $0) } }
        try await shown.lookAtStore { StoredSession(subject: "Bob") }
        _ = try await send(doors, .async) { server.status(for: $0) }
        #expect(server.sent.suffix(2) == ["T4", "T5"])
        #expect(loads() == 5)
    }

    /// Does something when it is read, once.
    private final class ActiveClock: AccessTokenClock {
        let onRead = Locked<(@Sendable () -> Void)?>(nil)

        var now: Date {
            onRead.withLock { $0.take() }?()
            return Date()
        }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            AccessTokenTimer {}
        }
    }

    /// A clock behind a lock of the app's may have to wait for code that asks the same service.
    @Test(arguments: Engine.allCases)
    func `holds no lock while it reads the clock`(_ engine: Engine) async throws {
        let clock = ActiveClock()
        let service = try #require(engine.make(Loader { validToken }, clock: clock) as? any RequestRepeating)
        let hasWaited = Locked(false)
        let onRead: @Sendable () -> Void = {
            let hasReturned = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = service.mayRepeat(in: 0)
                hasReturned.signal()
            }
            let isInTime = hasReturned.wait(timeout: .now() + 50) == .success
            hasWaited.withLock { $0 = isInTime }
        }
        clock.onRead.withLock { $0 = onRead }
        await onThreadOfItsOwn { _ = service.mayRepeat(in: 0) }
        #expect(hasWaited.withLock { $0 }, "the other thread did not get in")
    }

    // MARK: The decision

    let now = ManualClock().now
    let tokens = (0..<4).map { AccessToken(value: "T\($0)") }

    @Test func `by many callers at once counts once for each token`() {
        var requests = RepeatedRequests()
        let first = requests.mayRepeat(in: 1, at: now)
        for _ in 1...50 { requests.repeated(with: tokens[0], isRejected: true, in: 1, at: now) }
        let second = requests.mayRepeat(in: 1, at: now)
        requests.repeated(with: tokens[1], isRejected: true, in: 1, at: now)
        let third = requests.mayRepeat(in: 1, at: now)
        #expect([first, second, third] == [true, true, false])
    }

    @Test func `is sent again when the clock was set back during a pause`() {
        var requests = RepeatedRequests()
        _ = requests.mayRepeat(in: 1, at: now)
        for token in tokens.prefix(2) { requests.repeated(with: token, isRejected: true, in: 1, at: now) }
        let mayRepeat = requests.mayRepeat(in: 1, at: now - 3_600)
        #expect(mayRepeat)
    }

    @Test func `does not end the pause of the next session when it ends late`() {
        var requests = RepeatedRequests()
        _ = requests.mayRepeat(in: 2, at: now)
        for token in tokens.prefix(2) { requests.repeated(with: token, isRejected: true, in: 2, at: now) }
        _ = requests.mayRepeat(in: 1, at: now)
        let mayRepeat = requests.mayRepeat(in: 2, at: now)
        #expect(!mayRepeat)
    }

    @Test func `says nothing of the next session when it ends late`() {
        var requests = RepeatedRequests()
        _ = requests.mayRepeat(in: 2, at: now)
        for token in tokens { requests.repeated(with: token, isRejected: true, in: 1, at: now) }
        let mayRepeat = requests.mayRepeat(in: 2, at: now)
        #expect(mayRepeat)
    }
}
