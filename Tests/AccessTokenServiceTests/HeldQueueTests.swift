import AccessTokenContract
import Dispatch
import Foundation
import Testing

/// A queue that runs its blocks when a test says so.
private final class HeldQueue: SerialQueue {
    let dispatchQueue = DispatchQueue(label: "held")
    private let blocks = Locked<[@Sendable () -> Void]>([])

    var count: Int { blocks.withLock { $0.count } }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        blocks.withLock { $0.append { block() } }
    }

    /// Runs what is there, and what that adds.
    func run() {
        while let block = blocks.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            dispatchQueue.sync(execute: block)
        }
    }
}

/// A queue whose blocks have run, and are gone, when `enqueue` returns.
private final class InlineQueue: SerialQueue {
    let dispatchQueue = DispatchQueue(label: "inline")

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) { dispatchQueue.sync(execute: block) }
}

/// A queue that lets another thread do something before it takes a block, if that thread can.
private final class ProbingQueue: SerialQueue {
    let dispatchQueue = DispatchQueue(label: "probing")
    private let probe: Probe

    init(_ probe: Probe) { self.probe = probe }

    func enqueue(_ block: @escaping @Sendable @convention(block) () -> Void) {
        probe.run()
        dispatchQueue.async(execute: block)
    }
}

/// Finds out whether another thread can do something at this moment, or is kept out by a lock.
private final class Probe: Sendable {
    private let body = Locked<(@Sendable () -> Void)?>(nil)
    private let passes = Locked(0)

    /// How often it could.
    var count: Int { passes.withLock { $0 } }

    /// The next runs do this.
    func set(_ body: (@Sendable () -> Void)?) { self.body.withLock { $0 = body } }

    /// A thread that is kept out gives no event: it has the time that others need many times over.
    func run() {
        guard let body = body.withLock({ $0 }) else { return }
        let hasPassed = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            body()
            hasPassed.signal()
        }
        if hasPassed.wait(timeout: .now() + .milliseconds(100)) == .success { passes.withLock { $0 += 1 } }
    }
}

@Suite("The services, on queues that a test holds")
struct HeldQueueTests {
    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()

    private func service(
        engine: any SerialQueue = DispatchQueue(label: "engine"),
        loading: any SerialQueue = DispatchQueue(label: "loading"),
        delivery: any SerialQueue = DispatchQueue(label: "delivery"),
        onEvent: (@Sendable (AccessTokenEvent) -> Void)? = nil
    ) -> AccessTokenService {
        AccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(),
            clock: clock,
            engine: engine,
            loading: loading,
            delivery: delivery,
            onEvent: onEvent
        )
    }

    @Test func `a call waits for no queue, a load for the engine's, a cancelled caller for its own only (X1)`() {
        let (engine, delivery) = (HeldQueue(), HeldQueue())
        let service = service(engine: engine, delivery: delivery)
        let retrieval = service.callFromLegacyCode(then: answers.take)
        #expect(clock.pendingTimers == 0, "the deadline is set on the engine's queue")
        retrieval.cancel()
        #expect(answers.results.isEmpty)
        delivery.run()
        #expect(answers.results.count == 1)
        engine.run()
        #expect(clock.pendingTimers == 1)
    }

    @Test func `events do not wait for a loader that blocks`() {
        let (engine, loading) = (HeldQueue(), HeldQueue())
        let events = Locked<[AccessTokenEvent]>([])
        let service = service(engine: engine, loading: loading) { event in events.withLock { $0.append(event) } }
        service.callFromLegacyCode(then: answers.take)
        engine.run()
        #expect(loading.count == 1)
        #expect(events.withLock { $0 } == [.led(load: 1)])
    }

    @Test func `the loader is told of a sign-out after a load that is being started`() {
        let (engine, loading) = (HeldQueue(), HeldQueue())
        let service = service(engine: engine, loading: loading)
        service.callFromLegacyCode(then: answers.take)
        engine.run()
        service.signOut {}
        engine.run()
        #expect(loader.signOuts == 0)
        loading.run()
        #expect(loader.signOuts == 1)
    }

    @Test func `what a decision leads to is in its queue before anybody can decide again`() async {
        let probe = Probe()
        let queue = ProbingQueue(probe)
        let service = service(engine: queue, loading: DispatchQueue(label: "loading"), delivery: queue)
        probe.set { service.invalidate(AccessToken(value: "another")) }
        service.callFromLegacyCode(then: answers.take)
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(probe.count == 0, "a thread got in between")

        let signingOut = self.service(loading: queue)
        probe.set { signingOut.invalidate(AccessToken(value: "another")) }
        let signedOut = Event()
        signingOut.signOut { signedOut.happen() }
        await signedOut.wait()
        #expect(probe.count == 0, "a thread got in before the loader was to forget")
        probe.set(nil)
    }

    @Test func `nobody sees the new token before those who waited have their answers on the way (D2)`() async {
        let probe = Probe()
        let service = service(delivery: ProbingQueue(probe))
        service.callFromLegacyCode(then: answers.take)
        let load = await loader.started(1)
        probe.set { _ = service.currentToken }
        load?.answer(.success(validToken))
        await answers.count(1)
        #expect(probe.count == 0)
        probe.set(nil)
    }

    /// The queue has let go of the handler by then, so that the service has the last reference.
    @Test(arguments: ["answered", "cancelled"])
    func `a handler is released outside the lock: its release may call the service`(_ end: String) async {
        let isReleased = Event()
        let service = service(delivery: InlineQueue())
        let retrieval = callOfScreen(on: service, isReleased)
        let load = await loader.started(1)
        if end == "cancelled" { retrieval.cancel() }
        load?.answer(.failure(ContractLoadError(number: 1)))
        await isReleased.wait()
    }

    private func callOfScreen(on service: AccessTokenService, _ isReleased: Event) -> AccessTokenRetrieval {
        let screen = Screen {
            // Under the lock this would be the end.
            service.invalidate(validToken)
            isReleased.happen()
        }
        return service.callFromLegacyCode { _ in withExtendedLifetime(screen) {} }
    }

    @Test func `the async view of a callback loader calls it on its queue`() async throws {
        let loading = HeldQueue()
        let view = AsyncLoaderView(of: loader, loading: loading, onEvent: nil)
        let load = Task { try await view.load(replacing: nil) }
        await yieldUntil { loading.count == 1 || !loader.loads.isEmpty }
        #expect(loader.loads.isEmpty)
        loading.run()
        await loader.started(1)?.answer(.success(validToken))
        #expect(try await load.value == validToken)
    }

    // MARK: The actor

    @Test(arguments: ["answered", "cancelled"])
    func `a handler of the actor is released outside the lock too`(_ end: String) async {
        let isReleased = Event()
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let cancel = callOfScreen(on: service, isReleased)
        let load = await loader.started(1)
        if end == "cancelled" { cancel?() }
        load?.answer(.failure(ContractLoadError(number: 1)))
        await isReleased.wait()
    }

    private func callOfScreen(on service: AsyncAccessTokenService, _ isReleased: Event) -> (@Sendable () -> Void)? {
        let screen = Screen {
            service.invalidate(validToken)
            isReleased.happen()
        }
        return service.retrieveToken(inside: []) { _ in withExtendedLifetime(screen) {} }
    }

    @Test func `handlers of the actor have their answers before anybody can decide again, or see the token (D2)`() async
    {
        for isDecision in [true, false] {
            let loader = ControlledLoader()
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            let probe = Probe()
            let isAnswered = Event()
            _ = service.retrieveToken(inside: []) { _ in
                probe.run()
                isAnswered.happen()
            }
            probe.set {
                if isDecision { service.invalidate(AccessToken(value: "another")) } else { _ = service.currentToken }
            }
            await loader.started(1)?.answer(.success(validToken))
            await isAnswered.wait()
            #expect(probe.count == 0)
            probe.set(nil)
        }
    }

    /// An executor may do anything when it is given a job.
    @Test(arguments: ["answered", "cancelled"])
    func `a task is resumed outside the lock: its executor may call the service`(_ end: String) async {
        final class CallingExecutor: TaskExecutor {
            let service: AsyncAccessTokenService
            init(service: AsyncAccessTokenService) { self.service = service }

            func enqueue(_ job: consuming ExecutorJob) {
                // Under the lock this would be the end.
                service.invalidate(validToken)
                let job = UnownedJob(job)
                DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            }
        }
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let caller = Task(executorPreference: CallingExecutor(service: service)) { try await service.token() }
        let load = await loader.started(1)
        if end == "cancelled" { caller.cancel() }
        load?.answer(.failure(ContractLoadError(number: 1)))
        await #expect(throws: (any Error).self) { try await caller.value }
    }
}

/// Does something on its way out.
private final class Screen: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
