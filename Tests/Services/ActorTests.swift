import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("AsyncAccessTokenService, beyond the contract", .takesTurns)
struct ActorTests {
    let loader = ControlledLoader()
    let clock = ManualClock()

    @Test @MainActor func `a valid token does not suspend a caller on the main actor`() async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        await service.signIn(validToken)
        var others = 0
        let other = Task { @MainActor in others += 1 }
        for _ in 0..<1000 { _ = try await service.token() }
        #expect(others == 0, "another task ran on the main actor in between")
        await other.value
        #expect(others == 1)
    }

    /// On which executor a caller on an actor reads the service's clock: once for the snapshot, once to begin a load.
    private func executorsOfClockReads() async throws -> [ExecutorKind] {
        actor Screen {
            let executor: DispatchQueueExecutor
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
            init(queue: DispatchQueue) { executor = DispatchQueueExecutor(queue: queue) }
            func show(_ service: AsyncAccessTokenService) async throws -> AccessToken { try await service.token() }
        }
        let queue = DispatchQueue(label: "screen")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let reads = Locked<[ExecutorKind]>([])
        let watched = WatchedClock(
            base: clock,
            onRead: {
                reads.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true ? .callers : .another) }
            }
        )
        let service = AsyncAccessTokenService(loader: loader, clock: watched)
        // The first reading is of the initializer.
        reads.withLock { $0 = [] }
        let screen = Screen(queue: queue)
        let waiter = Task { try await screen.show(service) }
        let load = await loader.started(1)
        let beforeTheAnswer = reads.withLock { $0 }
        load?.answer(.success(validToken))
        #expect(try await waiter.valueInTime == validToken)
        return beforeTheAnswer
    }

    private enum ExecutorKind { case callers, another }

    @Test func `a caller looks for a token without leaving its actor`() async throws {
        #expect(try await executorsOfClockReads().first == .callers)
    }

    @Test func `a caller leaves its actor to begin a load`() async throws {
        #expect(try await executorsOfClockReads().last == .another)
    }

    @Test @MainActor func `a caller joins a load without entering the service's actor`() async throws {
        let reads = Locked(0)
        let service = AsyncAccessTokenService(
            loader: loader,
            clock: WatchedClock(base: clock) { reads.withLock { $0 += 1 } }
        )
        let first = Task { try await service.token() }
        let load = await loader.started(1)
        reads.withLock { $0 = 0 }
        let second = Task { @MainActor in try await service.token() }
        // Runs on the main actor behind the second caller, who waits by then.
        await Task { @MainActor in }.value
        load?.answer(.success(validToken))
        #expect(try await [first.valueInTime, second.valueInTime] == [validToken, validToken])
        #expect(reads.withLock { $0 } == 2, "one for the snapshot, one for the end of the load, none for a decision")
    }

    @Test(arguments: [TaskPriority.background, .high])
    func `a load runs at one high priority, whoever asks`(_ priority: TaskPriority) async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let seen = Locked<TaskPriority?>(nil)
        loader.duringLoad { load in
            seen.withLock { $0 = Task.currentPriority }
            load.answer(.success(validToken))
        }
        let leader = Task.detached(priority: priority) { try await service.token() }
        _ = try await leader.valueInTime
        #expect(seen.withLock { $0 } == .high)
    }

    @Test func `a cancelled caller's sign-out still reaches the loader`() async {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await service.signOut()
        }.value
        #expect(loader.signOuts == 1)
    }

    @Test(arguments: Engine.allCases)
    func `two services whose loaders ask each other get an error, not a deadlock (R1)`(_ engine: Engine) async {
        let second = Locked<(any AsyncAccessTokenProviding)?>(nil)
        let first = engine.make(Loader { try await second.withLock { $0 }?.token() ?? validToken }, clock: clock)
        second.withLock { $0 = engine.make(Loader { try await first.token() }, clock: clock) }
        await #expect(throws: AccessTokenError.loadAskedItsOwnService) { try await first.token() }
        second.withLock { $0 = nil }
    }

    @Test func `code that is not async signs in and out by an adapter, in the order of its calls`() async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let view = CallbackServiceAdapter(of: service)
        let answers = Answers()
        for number in 1...100 {
            let token = AccessToken(value: "token \(number)")
            view.signOutFromLegacyCode {}
            view.callFromLegacyCode(then: answers.take)
            view.callInOrder { await service.signIn(token) }
            view.callFromLegacyCode(then: answers.take)
            await yieldUntil { answers.results.count == 2 * number }
            #expect(hasFailed(answers.results[2 * number - 2], with: .signedOut))
            #expect(try answers.results[2 * number - 1].get() == token)
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a load whose session ended before it was begun is not begun`() async {
        let queue = DispatchQueue(label: "loads")
        let service = AsyncAccessTokenService(
            loader: loader,
            clock: clock,
            executor: DispatchQueueExecutor(queue: queue)
        )
        queue.suspend()
        // An immediate task runs until it waits, before its maker goes on.
        let caller = Task.immediate { try await service.token() }
        let signingOut = Task.immediate { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        queue.resume()
        await signingOut.value
        #expect(loader.loads.isEmpty)
    }

    /// Another thread may ask the loader at once.
    @Test func `a load has its deadline before it has a task`() async {
        let queue = HeldQueue()
        let tasks = Locked<[Int]>([])
        let watched = WatchedClock(base: clock, onSchedule: { tasks.withLock { $0.append(queue.count) } })
        let service = AsyncAccessTokenService(loader: loader, clock: watched, heldBy: queue)
        let caller = Task { try await service.token() }
        await yieldUntil { queue.count == 1 }
        #expect(tasks.withLock { $0 } == [0])
        await service.endSession(inside: []) {}
        queue.run()
        _ = await caller.result
    }

    @Test func `a load sees no task-local value of the caller that led it`() async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let seen = Locked<String?>(nil)
        loader.duringLoad { load in
            seen.withLock { $0 = Request.id }
            load.answer(.success(validToken))
        }
        try await Request.$id.withValue("the leader's") { _ = try await service.token() }
        #expect(seen.withLock { $0 } == "nobody's")
    }

    enum Request {
        @TaskLocal static var id = "nobody's"
    }
}

/// Tells when it is read, and when a timer is set.
private struct WatchedClock: AccessTokenClock {
    let base: ManualClock
    var onRead: @Sendable () -> Void = {}
    var onSchedule: @Sendable () -> Void = {}

    var now: Date {
        onRead()
        return base.now
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        onSchedule()
        return base.schedule(after: delay, action)
    }
}
