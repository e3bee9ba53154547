import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

/// What strangers broke, with both services.
@Suite("What a loader, a queue or a clock does wrong", .eightAtATime, .timeLimit(.minutes(10)))
struct BadNeighbourTests {
    let clock = ManualClock()
    let loader = ControlledLoader()
    let answers = Answers()

    /// Loads, and never answers a sign-out.
    private struct ForgetfulLoader: AccessTokenLoader, AsyncAccessTokenLoader {
        let kept = Kept<@Sendable () -> Void>()
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            handler(.success(validToken))
        }
        func load(replacing old: AccessToken?) async throws -> AccessToken { validToken }
        func signOut(then done: @escaping @Sendable () -> Void) { kept.keep(done) }
        func signOut() async { await withCheckedContinuation { continuation in kept.keep { continuation.resume() } } }
    }

    private final class Kept<Value: Sendable>: Sendable {
        private let values = Locked<[Value]>([])
        func keep(_ value: Value) { values.withLock { $0.append(value) } }
        var all: [Value] { values.withLock { $0 } }
    }

    @Test(arguments: ["queue", "actor"])
    func `a sign-out that the loader does not answer is done at the load's deadline, and reported`(
        of kind: String
    ) async {
        let loader = ForgetfulLoader()
        let events = Kept<AccessTokenEvent>()
        let policy = AccessTokenPolicy(loadDeadline: 60)
        let service: any AsyncAccessTokenProviding =
            kind == "queue"
            ? AccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: events.keep)
            : AsyncAccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: events.keep)
        let isSignedOut = Event()
        let signOut = Task {
            await service.signOut()
            isSignedOut.happen()
        }
        await yieldUntil { loader.kept.all.count == 1 }
        clock.advance(by: 60)
        #expect(!isSignedOut.hasHappened)
        clock.advance(by: 1)
        await signOut.value
        await yieldUntil { events.all.contains { $0.kind == .signOutTimedOut } }
        // The loader's late answer changes nothing.
        for done in loader.kept.all { done() }
        #expect(clock.pendingTimers == 0)
    }

    @Test func `async code that is handed a callback adapter does not need its handlers' queue`() async throws {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        defer { queue.resume() }
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        await service.signIn(validToken)
        let view: any AccessTokenProviding = CallbackServiceAdapter(of: service, handlerQueue: queue)
        #expect(try await view.token() == validToken)
        await AsyncServiceAdapter(of: view).invalidate(validToken)
        let waiter = Task { try await view.token() }
        await loader.started(1)?.answer(.success(validToken))
        #expect(try await waiter.valueInTime == validToken)
    }

    @Test func `a load by an async loader has the priority of the caller that led it`() async throws {
        let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), clock: clock)
        let priority = Locked<TaskPriority?>(nil)
        loader.duringLoad { load in
            priority.withLock { $0 = Task.currentPriority }
            load.answer(.success(validToken))
        }
        let leader = Task.detached(priority: .high) { try await service.token() }
        _ = try await leader.valueInTime
        #expect(priority.withLock { $0 } == .high)
    }

    @Test func `loads of a callback loader that were given up on their way are not begun (S3)`() async {
        let queue = HeldQueue()
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderAdapter(of: loader, loaderOn: queue, onEvent: nil),
            policy: AccessTokenPolicy(loadDeadline: 60),
            clock: clock
        )
        for number in 1...6 {
            let caller = Task { try await service.token() }
            await yieldUntil { queue.count == number }
            clock.advance(by: 60)
            await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        }
        queue.run()
        #expect(loader.loads.isEmpty)
    }

    @Test(arguments: ["queue", "actor"])
    func `an answered load leaves no timer, and a kept retrieval no service`(of kind: String) async {
        let queue = WeakReference<AccessTokenService>(nil)
        let actor = WeakReference<AsyncAccessTokenService>(nil)
        var retrieval: AccessTokenRetrieval?
        do {
            let provider: any AccessTokenProviding
            if kind == "queue" {
                let service = AccessTokenService(loader: loader, clock: clock)
                queue.object = service
                provider = service
            } else {
                let service = AsyncAccessTokenService(loader: loader, clock: clock)
                actor.object = service
                provider = CallbackServiceAdapter(of: service)
            }
            retrieval = provider.callFromLegacyCode(then: answers.take)
            await loader.started(1)?.answer(.success(validToken))
            await answers.count(1)
        }
        await yieldUntil { queue.object == nil && actor.object == nil }
        #expect(clock.pendingTimers == 0)
        retrieval?.cancel()
    }

    @Test(arguments: ["queue", "actor"])
    func `senseless times are corrected and reported`(of kind: String) async throws {
        let events = Kept<AccessTokenEvent>()
        let policy = AccessTokenPolicy(leeway: .nan, refreshAhead: -5, loadDeadline: .infinity)
        let service: any AsyncAccessTokenProviding =
            kind == "queue"
            ? AccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: events.keep)
            : AsyncAccessTokenService(loader: loader, policy: policy, clock: clock, onEvent: events.keep)
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        #expect(clock.pendingTimers == 0, "no deadline")
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
        await yieldUntil { events.all.count >= 4 }
        #expect(events.all.count { $0.kind == .policyCorrected } == 3)
    }

    /// Dispatch has some 250 threads for queues of this kind, so that it is a process of its own that has them all blocked.
    @Test func `three hundred loaders that block hold up no deadline, and no service with a global loader queue`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            let (loader, clock, answers) = (ControlledLoader(), ManualClock(), Answers())
            let blocking = BlockingLoader()
            let services = (1...300).map { _ in AccessTokenService(loader: blocking, clock: clock) }
            for service in services { service.callFromLegacyCode(then: answers.take) }
            await yieldUntil { blocking.begun.all.count >= 200 }
            let isFired = Event()
            _ = SystemClock().schedule(after: 0) { isFired.happen() }
            await isFired.wait()
            clock.advance(by: 60)
            await answers.count(300)
            let healthy = AccessTokenService(loader: loader, clock: clock, loaderQueue: .global())
            let caller = Task { try await healthy.token() }
            await loader.started(1)?.answer(.success(validToken))
            let token = try await caller.valueInTime
            let areTimedOut = answers.results.allSatisfy { hasFailed($0, with: .loadTimedOut) }
            exit(areTimedOut && token == validToken ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    private struct BlockingLoader: AccessTokenLoader {
        let begun = Kept<Void>()

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            begun.keep(())
            DispatchSemaphore(value: 0).wait()
        }
    }

    @Test func `a task that a callback loader starts to ask its own service gets an error (R1)`() async throws {
        let service = AccessTokenService(loader: loader, clock: clock)
        let inner = Locked<Task<AccessToken, any Error>?>(nil)
        loader.insideLoad { _ in inner.withLock { $0 = Task { try await service.token() } } }
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        await yieldUntil { inner.withLock { $0 } != nil }
        await #expect(throws: AccessTokenError.loadAskedItsOwnService) { try await inner.withLock { $0 }?.valueInTime }
        load?.answer(.success(validToken))
        await answers.count(1)
    }

    @Test func `a request with a token is answered on the handlers' queue, whatever its end`() async {
        let queue = DispatchQueue(label: "handlers")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
        service.signIn(validToken)
        for isCancelled in [false, true] {
            let isOnQueue = Locked<Bool?>(nil)
            let isSent = Event()
            let retrieval = service.withToken { _, reply in
                guard !isCancelled else { return isSent.happen() }
                DispatchQueue.global().async { reply(.success(1)) }
            } then: { (_: Result<Int, any Error>) in
                isOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) ?? false }
            }
            if isCancelled { retrieval.cancel() }
            await yieldUntil { isOnQueue.withLock { $0 } != nil }
            #expect(isOnQueue.withLock { $0 } == true)
        }
    }
}
