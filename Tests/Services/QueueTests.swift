import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

/// A queue before whose blocks another thread tries something.
private final class ProbingQueue: SerialQueue {
    private let dispatchQueue = DispatchQueue(label: "probing")
    private let attempt = Locked<(@Sendable () -> Void)?>(nil)
    private let passes = Locked(0)

    /// How often the other thread could, and no lock kept it out.
    var count: Int { passes.withLock { $0 } }

    /// From now on another thread tries this.
    func probe(_ attempt: (@Sendable () -> Void)?) { self.attempt.withLock { $0 = attempt } }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        if let attempt = attempt.withLock({ $0 }) { run(attempt) }
        dispatchQueue.async(execute: block)
    }

    /// A thread that is kept out gives no event: it has the time that others need many times over.
    private func run(_ attempt: @escaping @Sendable () -> Void) {
        let hasPassed = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            attempt()
            hasPassed.signal()
        }
        if hasPassed.wait(timeout: .now() + .milliseconds(100)) == .success { passes.withLock { $0 += 1 } }
    }
}

@Suite("The services and their queues", .takesTurns)
struct QueueTests {
    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()

    private func service(
        loaderOn loaderQueue: any SerialQueue = DispatchQueue(label: "loader"),
        handlersOn handlerQueue: any SerialQueue = DispatchQueue(label: "handlers")
    ) -> AccessTokenService {
        AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(),
            clock: clock,
            loaderOn: loaderQueue,
            handlersOn: handlerQueue,
            events: nil
        )
    }

    /// A service as callback code sees it, and its token.
    private func provider(_ engine: Engine, handlersOn handlerQueue: any SerialQueue)
        -> (any AccessTokenProviding, currentToken: @Sendable () -> AccessToken?)
    {
        switch engine {
        case .queue:
            let service = service(handlersOn: handlerQueue)
            return (service, { service.currentToken })
        case .actor:
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            return (CallbackServiceAdapter(of: service, handlersOn: handlerQueue), { service.currentToken })
        }
    }

    // MARK: The queue of the handlers

    /// What an app may pass as the handler queue.
    enum QueueKind: CaseIterable {
        case serial, concurrent, main

        func make() -> DispatchQueue {
            switch self {
            case .serial: DispatchQueue(label: "serial")
            case .concurrent: DispatchQueue(label: "concurrent", attributes: .concurrent)
            case .main: .main
            }
        }
    }

    /// Answers this many callers by one load; each handler calls `onAnswer` with the number of its call.
    private func answer(_ callers: Int, on queue: DispatchQueue, _ onAnswer: @escaping @Sendable (Int) -> Void) async {
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
        for number in 0..<callers {
            service.callFromLegacyCode { [answers] result in
                onAnswer(number)
                answers.take(result)
            }
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(callers)
    }

    @Test(arguments: QueueKind.allCases)
    func `handlers are called on the queue given (D4)`(_ kind: QueueKind) async {
        let (queue, key) = (kind.make(), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        defer { queue.setSpecific(key: key, value: nil) }
        let areOnQueue = Locked(0)
        await answer(100, on: queue) { _ in
            if DispatchQueue.getSpecific(key: key) == true { areOnQueue.withLock { $0 += 1 } }
        }
        #expect(areOnQueue.withLock { $0 } == 100)
    }

    @Test(arguments: QueueKind.allCases)
    func `handlers are called in the order of the calls (D2)`(_ kind: QueueKind) async {
        let order = Locked<[Int]>([])
        await answer(100, on: kind.make()) { number in order.withLock { $0.append(number) } }
        #expect(order.withLock { $0 } == Array(0..<100))
    }

    /// With a valid token each handler is a block of its own; the waiters of one load are called by one block.
    @Test(arguments: QueueKind.allCases)
    func `handlers are called one at a time (D4)`(_ kind: QueueKind) async {
        let inside = Locked(0)
        let most = Locked(0)
        let service = AccessTokenService(token: validToken, loader: loader, clock: clock, handlerQueue: kind.make())
        for _ in 0..<100 {
            service.callFromLegacyCode { [answers] result in
                let now = inside.withLock { inside in
                    inside += 1
                    return inside
                }
                most.withLock { $0 = max($0, now) }
                // Gives another thread the time to come in.
                sched_yield()
                inside.withLock { $0 -= 1 }
                answers.take(result)
            }
        }
        await answers.count(100)
        #expect(most.withLock { $0 } == 1)
    }

    // MARK: What waits for which queue

    @Test func `the deadline of a load waits for no queue`() {
        let service = service(loaderOn: HeldQueue(), handlersOn: HeldQueue())
        service.callFromLegacyCode(then: answers.take)
        #expect(clock.pendingTimers == 1)
    }

    @Test func `a cancelled caller waits for the handler queue only (X1)`() {
        let handlerQueue = HeldQueue()
        let service = service(loaderOn: HeldQueue(), handlersOn: handlerQueue)
        service.callFromLegacyCode(then: answers.take).cancel()
        #expect(answers.results.isEmpty)
        handlerQueue.run()
        #expect(answers.results.count == 1)
    }

    @Test func `a load that waits for its queue is begun, though its caller has left (X2)`() {
        let loaderQueue = HeldQueue()
        let service = service(loaderOn: loaderQueue)
        service.callFromLegacyCode(then: answers.take).cancel()
        #expect(loader.loads.isEmpty)
        loaderQueue.run()
        #expect(loader.loads.count == 1)
    }

    /// A session that has ended while its load waits for the loader's queue.
    private func endSessionBeforeItsLoad(on loaderQueue: HeldQueue) {
        let service = service(loaderOn: loaderQueue)
        service.callFromLegacyCode(then: answers.take)
        service.signOut {}
        loaderQueue.run()
    }

    @Test func `a load whose session ended before it was begun is not begun`() {
        endSessionBeforeItsLoad(on: HeldQueue())
        #expect(loader.loads.isEmpty)
    }

    @Test func `a load whose session ended before it was begun leaves no deadline`() {
        endSessionBeforeItsLoad(on: HeldQueue())
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a sign-out does not wait for a load that was not begun`() {
        endSessionBeforeItsLoad(on: HeldQueue())
        #expect(loader.signOuts == 1)
    }

    @Test func `a loader is told to forget a session on its queue only`() {
        let loaderQueue = HeldQueue()
        service(loaderOn: loaderQueue).signOut {}
        #expect(loader.signOuts == 0)
        loaderQueue.run()
        #expect(loader.signOuts == 1)
    }

    // MARK: What comes before what

    @Test func `answers are in the queue of the handlers before anybody can decide again`() async {
        let queue = ProbingQueue()
        let service = service(handlersOn: queue)
        queue.probe { service.invalidate(AccessToken(value: "another")) }
        service.callFromLegacyCode(then: answers.take)
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(queue.count == 0, "a thread got in between")
        queue.probe(nil)
    }

    @Test func `the answer of a cancelled caller is in the queue of the handlers before anybody can decide again`()
        async
    {
        let queue = ProbingQueue()
        let service = service(handlersOn: queue)
        queue.probe { service.invalidate(AccessToken(value: "another")) }
        service.callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        #expect(queue.count == 0, "a thread got in between")
        queue.probe(nil)
    }

    /// Others join the load at once, and must not have to wait for the thread of the caller that started it.
    @Test func `a load is in the queue of the loader before anybody can decide again`() async {
        let queue = ProbingQueue()
        let service = service(loaderOn: queue)
        queue.probe { service.invalidate(AccessToken(value: "another")) }
        service.callFromLegacyCode(then: answers.take)
        queue.probe(nil)
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(queue.count == 0, "a thread got in between")
    }

    /// Lets something come before each timer.
    private struct LateClock: AccessTokenClock {
        let base: ManualClock
        let onSchedule: @Sendable () -> Void
        var now: Date { base.now }

        func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
            onSchedule()
            return base.schedule(after: delay, action)
        }
    }

    @Test func `a load that ends before its deadline is set leaves no timer`() {
        let loaderQueue = HeldQueue()
        loader.insideLoad { $0.answer(.success(validToken)) }
        let service = AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(),
            clock: LateClock(base: clock) { loaderQueue.run() },
            loaderOn: loaderQueue,
            handlersOn: HeldQueue(),
            events: nil
        )
        service.callFromLegacyCode(then: answers.take)
        #expect(service.currentToken == validToken)
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a load is not asked for before its deadline is set, though its caller's thread is held up`() async {
        let loaderQueue = HeldQueue()
        let (isHeldUp, mayGoOn, hasReturned) = (Event(), DispatchSemaphore(value: 0), Event())
        let service = AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(),
            clock: LateClock(base: clock) {
                guard !isHeldUp.hasHappened else { return }
                isHeldUp.happen()
                mayGoOn.wait()
            },
            loaderOn: loaderQueue,
            handlersOn: HeldQueue(),
            events: nil
        )
        Thread.detachNewThread {
            service.callFromLegacyCode(then: answers.take)
            hasReturned.happen()
        }
        await isHeldUp.wait()
        loaderQueue.run()
        #expect(loader.loads.count == 1)
        #expect(clock.pendingTimers == 1)
        mayGoOn.signal()
        await hasReturned.wait()
        loader.loads.first?.answer(.success(validToken))
        #expect(clock.pendingTimers == 0)
    }

    @Test func `a forgetting is in the queue of the loader before anybody can decide again`() async {
        let queue = ProbingQueue()
        let service = service(loaderOn: queue)
        queue.probe { service.invalidate(AccessToken(value: "another")) }
        let signedOut = Event()
        service.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        #expect(queue.count == 0, "a thread got in between")
        queue.probe(nil)
    }

    @Test(arguments: Engine.allCases)
    func `nobody sees the new token before those who waited have their answers on the way (D2)`(
        _ engine: Engine
    ) async {
        let queue = ProbingQueue()
        let (service, currentToken) = provider(engine, handlersOn: queue)
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        queue.probe { _ = currentToken() }
        load?.answer(.success(validToken))
        await answers.count(1)
        #expect(queue.count == 0)
        queue.probe(nil)
    }

    // MARK: Code of others that calls the service

    enum End: CaseIterable {
        case answered, cancelled, signedOut
    }

    /// Makes a call whose handler captures a screen, and returns when the screen was released.
    ///
    /// - Parameter onRelease: what the screen does on its way out.
    private func releaseScreen(
        _ end: End,
        of service: any AccessTokenProviding,
        handlersOn queue: DispatchQueue,
        _ onRelease: @escaping @Sendable () -> Void
    ) async {
        let isReleased = Event()
        let screen: @Sendable () -> Screen = {
            Screen {
                onRelease()
                isReleased.happen()
            }
        }
        switch end {
        case .answered:
            _ = call(service, holding: screen())
            await loader.started(1)?.answer(.success(validToken))
        case .cancelled:
            call(service, holding: screen()).cancel()
        case .signedOut:
            // On the queue it must not be called before the call has let go of it here.
            queue.suspend()
            signOut(of: service, holding: screen())
            queue.resume()
        }
        await isReleased.wait()
    }

    @Test(arguments: Engine.allCases, End.allCases)
    func `what a handler captures is released on the handlers' queue`(_ engine: Engine, _ end: End) async {
        let (queue, key) = (DispatchQueue(label: "handlers"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let wasOnQueue = Locked<Bool?>(nil)
        await releaseScreen(end, of: provider(engine, handlersOn: queue).0, handlersOn: queue) {
            wasOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) }
        }
        #expect(wasOnQueue.withLock { $0 } == true)
    }

    @Test(arguments: Engine.allCases, End.allCases)
    func `what a handler captures may call the service when it is released`(_ engine: Engine, _ end: End) async {
        let queue = DispatchQueue(label: "handlers")
        let (service, _) = provider(engine, handlersOn: queue)
        // Inside of a decision the call would be the end.
        await releaseScreen(end, of: service, handlersOn: queue) { service.invalidate(validToken) }
    }

    // In functions of their own, which have let go of the handler when they return.
    private func call(_ service: any AccessTokenProviding, holding screen: Screen) -> AccessTokenRetrieval {
        service.callFromLegacyCode { _ in withExtendedLifetime(screen) {} }
    }

    private func signOut(of service: any AccessTokenProviding, holding screen: Screen) {
        service.signOutFromLegacyCode { withExtendedLifetime(screen) {} }
    }

    /// An executor may do anything when it is given a job.
    @Test(arguments: End.allCases)
    func `the executor of a task that is resumed may call the service`(_ end: End) async {
        final class CallingExecutor: TaskExecutor {
            let service: AsyncAccessTokenService
            init(service: AsyncAccessTokenService) { self.service = service }

            func enqueue(_ job: consuming ExecutorJob) {
                // A caller that waits for the actor here would wait for ever.
                _ = service.currentToken
                Task { await service.invalidate(validToken) }
                let job = UnownedJob(job)
                DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            }
        }
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let caller = Task(executorPreference: CallingExecutor(service: service)) { try await service.token() }
        let load = await loader.started(1)
        switch end {
        case .answered: load?.answer(.failure(ContractLoadError(number: 1)))
        case .cancelled: caller.cancel()
        case .signedOut: await service.signOut()
        }
        let error = await #expect(throws: (any Error).self) { try await caller.valueInTime }
        #expect(!(error is NoValue), "the caller was not answered")
    }
}

/// Does something on its way out.
private final class Screen: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
