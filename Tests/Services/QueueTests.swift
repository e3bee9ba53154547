import AccessTokenContract
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

@Suite("The services and their queues", .eightAtATime)
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

    @Test(
        arguments: [DispatchQueue(label: "serial"), DispatchQueue(label: "concurrent", attributes: .concurrent), .main]
    )
    func `handlers are called one at a time, in order, on a queue of any kind (D2, D4)`(queue: DispatchQueue) async {
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        defer { queue.setSpecific(key: key, value: nil) }
        let service = AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
        let inside = Locked(0)
        let order = Locked<[Int]>([])
        for number in 0..<100 {
            service.callFromLegacyCode { [answers] result in
                let isAlone = inside.withLock { inside in
                    inside += 1
                    return inside == 1
                }
                #expect(isAlone && DispatchQueue.getSpecific(key: key) == true)
                order.withLock { $0.append(number) }
                inside.withLock { $0 -= 1 }
                answers.take(result)
            }
        }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(100)
        #expect(order.withLock { $0 } == Array(0..<100))
    }

    @Test func `a call waits for no queue, a cancelled caller for its own only (X1)`() {
        let (loaderQueue, handlerQueue) = (HeldQueue(), HeldQueue())
        let service = service(loaderOn: loaderQueue, handlersOn: handlerQueue)
        let retrieval = service.callFromLegacyCode(then: answers.take)
        #expect(clock.pendingTimers == 1, "the deadline waits for no queue")
        retrieval.cancel()
        #expect(answers.results.isEmpty)
        handlerQueue.run()
        #expect(answers.results.count == 1)
        #expect(loader.loads.isEmpty)
        loaderQueue.run()
        #expect(loader.loads.count == 1)
    }

    @Test func `a load whose session ended before it was begun is not begun, and the loader forgets at once`() {
        let loaderQueue = HeldQueue()
        let service = service(loaderOn: loaderQueue)
        service.callFromLegacyCode(then: answers.take)
        service.signOut {}
        #expect(loader.signOuts == 0)
        loaderQueue.run()
        #expect(loader.loads.isEmpty)
        #expect(loader.signOuts == 1)
        #expect(clock.pendingTimers == 0, "a deadline of nothing")
    }

    @Test func `what a decision leads to is in its queue before anybody can decide again`() async {
        let queue = ProbingQueue()
        let service = service(handlersOn: queue)
        queue.probe { service.invalidate(AccessToken(value: "another")) }
        service.callFromLegacyCode(then: answers.take)
        service.callFromLegacyCode(then: answers.take).cancel()
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(2)
        #expect(queue.count == 0, "a thread got in between")

        let signingOut = self.service(loaderOn: queue)
        queue.probe { signingOut.invalidate(AccessToken(value: "another")) }
        let signedOut = Event()
        signingOut.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        #expect(queue.count == 0, "a thread got in before the loader was to forget")
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

    @Test(arguments: Engine.allCases, ["answered", "cancelled", "signed out"])
    func `what a handler captures is released on the handlers' queue, and may call the service`(
        _ engine: Engine,
        _ end: String
    ) async {
        let queue = DispatchQueue(label: "handlers")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let (service, _) = provider(engine, handlersOn: queue)
        let isReleased = Event()
        let released = Locked<[Bool]>([])
        let screen: @Sendable () -> Screen = {
            Screen {
                // Inside of a decision this would be the end.
                service.invalidate(validToken)
                released.withLock { $0.append(DispatchQueue.getSpecific(key: key) ?? false) }
                isReleased.happen()
            }
        }
        let retrieval = call(service, holding: screen())
        let load = await loader.started(1)
        switch end {
        case "answered": load?.answer(.success(validToken))
        case "cancelled": retrieval.cancel()
        default:
            // On the queue it must not be called before the call has let go of it here.
            queue.suspend()
            signOut(of: service, holding: screen())
            queue.resume()
        }
        await isReleased.wait()
        load?.answer(.success(validToken))
        let count = end == "signed out" ? 2 : 1
        await yieldUntil { released.withLock { $0.count } == count }
        #expect(released.withLock { $0 } == Array(repeating: true, count: count))
    }

    // In functions of their own, which have let go of the handler when they return.
    private func call(_ service: any AccessTokenProviding, holding screen: Screen) -> AccessTokenRetrieval {
        service.callFromLegacyCode { _ in withExtendedLifetime(screen) {} }
    }

    private func signOut(of service: any AccessTokenProviding, holding screen: Screen) {
        service.signOutFromLegacyCode { withExtendedLifetime(screen) {} }
    }

    /// An executor may do anything when it is given a job.
    @Test(arguments: ["answered", "cancelled"])
    func `the executor of a task that is resumed may call the service`(_ end: String) async {
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
        if end == "cancelled" { caller.cancel() }
        load?.answer(.failure(ContractLoadError(number: 1)))
        await #expect(throws: (any Error).self) { try await caller.valueInTime }
    }
}

/// Does something on its way out.
private final class Screen: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
