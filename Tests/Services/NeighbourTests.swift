import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("A service among neighbours that misbehave", .eightAtATime, .timeLimit(.minutes(10)))
struct NeighbourTests {
    let clock = ManualClock()
    let loader = ControlledLoader()
    let answers = Answers()

    // MARK: Event handlers, and what events say

    /// An error whose code asks the very service that reports it.
    private final class CuriousError: LoggableError {
        let ask = Locked<@Sendable () -> Void>({})

        var logCode: String {
            ask.withLock { $0 }()
            return "curious"
        }
    }

    @Test(arguments: Engine.allCases)
    func `an error whose code calls the service does not hold it up`(_ engine: Engine) async {
        let error = CuriousError()
        let isTold = Event()
        let service = engine.make(Loader { throw error }, clock: clock) { event in
            if event.errorCode == "curious" { isTold.happen() }
        }
        error.ask.withLock { ask in
            ask = {
                // Inside of a decision this would be the end.
                if let queue = service as? AccessTokenService { return queue.invalidate(validToken) }
                Task { await service.invalidate(validToken) }
            }
        }
        await #expect(throws: CuriousError.self) { try await service.token() }
        await isTold.wait()
        error.ask.withLock { $0 = {} }
    }

    /// More than the pool of tasks or Dispatch have threads.
    ///
    /// In a process of their own: all services share the thread that they block, also those of other tests.
    @Test func `a hundred event handlers that block hold up nobody`() async throws {
        await #expect(processExitsWith: .success) {
            let isBlocked = Event()
            let services = (0..<100).map { number in
                Engine.allCases[number % Engine.allCases.count].make(Loader { validToken }, clock: ManualClock()) { _ in
                    isBlocked.happen()
                    DispatchSemaphore(value: 0).wait()
                }
            }
            for service in services where try await service.token() != validToken { exit(EXIT_FAILURE) }
            await isBlocked.wait()
            for service in services { await service.invalidate(validToken) }
            for service in services where try await service.token() != validToken { exit(EXIT_FAILURE) }
            exit(EXIT_SUCCESS)
        }
    }

    @Test(arguments: Engine.allCases)
    func `senseless times are corrected and reported`(_ engine: Engine) async throws {
        let events = Locked<[AccessTokenEvent]>([])
        let policy = AccessTokenPolicy(leeway: .nan, refreshAhead: -5, loadDeadline: .infinity)
        let service = engine.make(loader, policy: policy, clock: clock) { event in events.withLock { $0.append(event) }
        }
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        #expect(clock.pendingTimers == 0, "no deadline")
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
        await yieldUntil { events.withLock { $0.count } >= 4 }
        #expect(events.withLock { $0.count { $0.kind == .policyCorrected } } == 3)
    }

    @Test(arguments: Engine.allCases)
    func `a task that a loader starts and never ends keeps no service`(_ engine: Engine) async throws {
        let mayEnd = Event()
        let loader = Loader {
            Task { await mayEnd.wait() }
            return validToken
        }
        let isReleased: () -> Bool
        do {
            let service = engine.make(loader, clock: clock)
            #expect(try await service.token() == validToken)
            isReleased = { [weak object = service as AnyObject] in object == nil }
        }
        await yieldUntil { isReleased() }
        mayEnd.happen()
    }

    // MARK: Loads that come late

    /// Starts the jobs of tasks when a test says so.
    private final class HeldExecutor: TaskExecutor {
        private let queue: HeldQueue
        init(queue: HeldQueue) { self.queue = queue }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.enqueue { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Each of them would send the same refresh token.
    @Test(arguments: Engine.allCases)
    func `loads that were given up on their way to the loader are not begun (S3)`(_ engine: Engine) async {
        let queue = HeldQueue()
        let service: any AsyncAccessTokenProviding =
            switch engine {
            case .queue:
                AccessTokenService(
                    loader: CallbackLoaderAdapter(of: loader, executor: HeldExecutor(queue: queue)),
                    clock: clock
                )
            case .actor:
                AsyncAccessTokenService(
                    loader: AsyncLoaderAdapter(of: loader, loaderOn: queue, onEvent: nil),
                    clock: clock
                )
            }
        for number in 1...6 {
            let caller = Task { try await service.token() }
            await yieldUntil { queue.count == number }
            clock.advance(by: 60)
            await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        }
        queue.run()
        #expect(loader.loads.isEmpty)
    }

    @Test func `an executor that is blocked holds up neither a deadline nor a cancellation`() async throws {
        let (queue, hasJoined) = (HeldQueue(), Event())
        let service = AsyncAccessTokenService(loader: loader, clock: clock, executor: HeldExecutor(queue: queue)) {
            if $0.kind == .joined { hasJoined.happen() }
        }
        let (waiter, cancelled) = (Task { try await service.token() }, Task { try await service.token() })
        await yieldUntil { queue.count == 1 }
        await hasJoined.wait()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.valueInTime }
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await waiter.valueInTime }
        queue.run()
        #expect(loader.loads.isEmpty)
    }

    /// A loader that waits before it can send its request would send what the next load has sent already.
    @Test(arguments: Engine.allCases, ["past its deadline", "of a session that is over"])
    func `a loader can ask whether its load is still wanted`(_ engine: Engine, _ end: String) async throws {
        let begun = Locked(0)
        let (mayAsk, hasAsked) = ([Event(), Event()], [Event(), Event()])
        let wanted = Locked<[Int: Bool]>([:])
        let loader = Loader {
            let number = begun.withLock { number in
                defer { number += 1 }
                return number
            }
            await mayAsk[number].wait()
            wanted.withLock { $0[number] = AccessTokenLoad.isWanted }
            hasAsked[number].happen()
            return validToken
        }
        let service = engine.make(loader, clock: clock)
        let first = Task { try await service.token() }
        await yieldUntil { begun.withLock { $0 } == 1 }
        if end == "past its deadline" {
            clock.advance(by: 60)
            await #expect(throws: AccessTokenError.loadTimedOut) { try await first.valueInTime }
            let second = Task { try await service.token() }
            await yieldUntil { begun.withLock { $0 } == 2 }
            mayAsk[1].happen()
            #expect(try await second.valueInTime == validToken)
            #expect(wanted.withLock { $0[1] } == true)
        } else {
            await service.beginSession(with: validToken)
        }
        mayAsk[0].happen()
        await hasAsked[0].wait()
        #expect(wanted.withLock { $0[0] } == false)
        #expect(AccessTokenLoad.isWanted, "outside of a load")
    }

    @Test(arguments: Engine.allCases)
    func `an answered load leaves no timer, and a kept retrieval no service`(_ engine: Engine) async {
        let queue = WeakReference<AccessTokenService>(nil)
        let actor = WeakReference<AsyncAccessTokenService>(nil)
        var retrieval: AccessTokenRetrieval?
        do {
            let service = engine.make(loader, clock: clock)
            queue.object = service as? AccessTokenService
            actor.object = service as? AsyncAccessTokenService
            retrieval = CallbackServiceAdapter(of: service).callFromLegacyCode(then: answers.take)
            await loader.started(1)?.answer(.success(validToken))
            await answers.count(1)
        }
        await yieldUntil { queue.object == nil && actor.object == nil }
        #expect(clock.pendingTimers == 0)
        retrieval?.cancel()
    }

    // MARK: Queues and threads that are blocked

    @Test(arguments: Engine.allCases, [true, false])
    func `an async caller does not wait for the handlers' queue`(_ engine: Engine, isCancelled: Bool) async throws {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        defer { queue.resume() }
        let view: any AccessTokenProviding =
            switch engine {
            case .queue: AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
            case .actor:
                CallbackServiceAdapter(of: AsyncAccessTokenService(loader: loader, clock: clock), handlerQueue: queue)
            }
        let caller = Task {
            if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            return try await view.token()
        }
        if isCancelled {
            await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        } else {
            await loader.started(1)?.answer(.success(validToken))
            #expect(try await caller.valueInTime == validToken)
            #expect(try await view.token() == validToken)
        }
        await AsyncServiceAdapter(of: view).invalidate(validToken)
        await AsyncServiceAdapter(of: view).signOut()
    }

    /// The threads that are blocked are shared with other tests, so that it is a process of its own that has them.
    @Test func `three hundred loaders that block hold up no deadline, and no service with a loader queue of its own`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            let (loader, clock, answers) = (ControlledLoader(), ManualClock(), Answers())
            let blocking = BlockingLoader()
            let services = (1...300).map { _ in AccessTokenService(loader: blocking, clock: clock) }
            for service in services { service.callFromLegacyCode(then: answers.take) }
            await yieldUntil { blocking.begun.withLock { $0 } >= 2 }
            let isFired = Event()
            _ = SystemClock().schedule(after: 0) { isFired.happen() }
            await isFired.wait()
            clock.advance(by: 60)
            await answers.count(300)
            let own = DispatchQueue(label: "loader")
            let healthy = AccessTokenService(loader: loader, clock: clock, loaderQueue: own)
            let caller = Task { try await healthy.token() }
            await loader.started(1)?.answer(.success(validToken))
            let token = try await caller.valueInTime
            let areTimedOut = answers.results.allSatisfy { hasFailed($0, with: .loadTimedOut) }
            exit(areTimedOut && token == validToken ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    /// A queue without a target would have a thread for each service.
    @Test func `a thousand services that load at once take a thread for each core, and not for each service`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            let threads = ThreadSet()
            let (loader, answers) = (ThreadNotingLoader(threads: threads), Answers())
            let services = (1...1000).map { _ in AccessTokenService(loader: loader, clock: ManualClock()) }
            for service in services { service.callFromLegacyCode(then: answers.take) }
            await answers.count(1000)
            exit(threads.count <= 64 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    private struct ThreadNotingLoader: AccessTokenLoader {
        let threads: ThreadSet

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            threads.add()
            handler(.success(validToken))
        }
    }

    private final class ThreadSet: Sendable {
        private let threads = Locked<Set<ObjectIdentifier>>([])

        var count: Int { threads.withLock { $0.count } }

        /// Adds the thread that calls.
        func add() { threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) } }
    }

    private final class BlockingLoader: AccessTokenLoader {
        let begun = Locked(0)

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            begun.withLock { $0 += 1 }
            DispatchSemaphore(value: 0).wait()
        }
    }
}
