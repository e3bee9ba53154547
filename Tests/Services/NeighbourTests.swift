import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("A service among neighbours that misbehave", .takesTurns, .endsHangs)
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

    /// An error that does something when it is released.
    private final class HeavyError: Error {
        private let onRelease: @Sendable () -> Void
        init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    // Nobody waits for a load ahead: the service is the last to have the error.

    @Test func `an error that calls the service when it is released does not hold it up`() async throws {
        let service = Locked<AccessTokenService?>(nil)
        let isReleased = Event()
        let loader = Loader {
            throw HeavyError {
                // Inside of a decision this would be the end.
                service.withLock { $0 }?.invalidate(validToken)
                isReleased.happen()
            }
        }
        let policy = AccessTokenPolicy(refreshAhead: 600)
        let token = AccessToken(value: "short", expiration: clock.now + 300)
        let made = AccessTokenService(token: token, loader: loader, policy: policy, clock: clock)
        service.withLock { $0 = made }
        clock.advance(by: 200)
        #expect(try await made.token() == token)
        await isReleased.wait()
        service.withLock { $0 = nil }
    }

    @Test func `an error is not released on the actor`() async throws {
        let queue = HeldQueue()
        let (hasFailed, isReleased) = (Event(), Event())
        let token = AccessToken(value: "short", expiration: clock.now + 300)
        let service = AsyncAccessTokenService(
            token: token,
            loader: Loader { throw HeavyError { isReleased.happen() } },
            policy: AccessTokenPolicy(refreshAhead: 600),
            clock: clock,
            heldBy: queue,
            events: EventDelivery(on: { $0() }) { if $0.kind == .loadFailed { hasFailed.happen() } }
        )
        clock.advance(by: 200)
        #expect(try await service.token() == token)
        // The event comes in the middle of the decision.
        await yieldUntil {
            queue.runNext()
            return hasFailed.hasHappened
        }
        #expect(!isReleased.hasHappened)
        await yieldUntil {
            queue.run()
            return isReleased.hasHappened
        }
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

    private let senseless = AccessTokenPolicy(leeway: .nan, refreshAhead: -5, loadDeadline: .infinity)

    @Test(arguments: Engine.allCases)
    func `senseless times are corrected: an infinite deadline is none`(_ engine: Engine) async throws {
        let service = engine.make(loader, policy: senseless, clock: clock)
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        #expect(clock.pendingTimers == 0)
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
    }

    @Test(arguments: Engine.allCases)
    func `each senseless time is reported`(_ engine: Engine) async {
        let events = Locked<[AccessTokenEvent]>([])
        let areReported = Event()
        let service = engine.make(loader, policy: senseless, clock: clock) { event in
            events.withLock { $0.append(event) }
            if event.kind == .invalidated || event.kind == .ignoredInvalidation { areReported.happen() }
        }
        // Events come in their order: this one after those of the policy.
        await service.invalidate(validToken)
        await areReported.wait()
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

    /// A sign-in overtakes the load before its task runs, or on its way from there to the loader.
    @Test(arguments: [false, true])
    func `a load that was overtaken on its way to the loader is not begun (S3)`(isAsked: Bool) async throws {
        let queue = HeldQueue()
        let held = TaskStarter(executor: HeldExecutor(queue: queue))
        let service = AsyncAccessTokenService(
            loader: loader,
            policy: AccessTokenPolicy(),
            clock: clock,
            startTask: isAsked ? TaskStarter() : held,
            startLoaderTask: isAsked ? held : TaskStarter(),
            events: nil
        )
        let caller = Task { try await service.token() }
        await yieldUntil { queue.count == 1 }
        try await Task<Void, any Error> { await service.signIn(validToken) }.valueInTime
        #expect(try await caller.valueInTime == validToken)
        // Whatever the load still does comes before the end of a sign-out.
        let isOver = Event()
        await service.endSession(inside: []) { isOver.happen() }
        await yieldUntil {
            queue.run()
            return isOver.hasHappened
        }
        #expect(loader.loads.isEmpty)
    }

    @Test func `what a loader does when it is cancelled is not done on the actor`() async {
        let queue = HeldQueue()
        let (isLoading, isCancelled) = (Event(), Event())
        let loader = Loader {
            isLoading.happen()
            await withTaskCancellationHandler {
                await isCancelled.wait()
            } onCancel: {
                isCancelled.happen()
            }
            throw CancellationError()
        }
        let service = AsyncAccessTokenService(loader: loader, clock: clock, heldBy: queue)
        let caller = Task { try await service.token() }
        await yieldUntil {
            queue.run()
            return isLoading.hasHappened
        }
        await service.endSession(inside: []) {}
        #expect(!isCancelled.hasHappened)
        queue.run()
        await isCancelled.wait()
        _ = await caller.result
    }

    /// A service whose executor is blocked before it can call the loader, and a caller that waits for the load.
    private func callerOfBlockedExecutor() async -> (
        Task<AccessToken, any Error>, HeldQueue, AsyncAccessTokenService
    ) {
        let queue = HeldQueue()
        let service = AsyncAccessTokenService(loader: loader, clock: clock, executor: HeldExecutor(queue: queue))
        let caller = Task { try await service.token() }
        await yieldUntil { queue.count == 1 }
        return (caller, queue, service)
    }

    @Test func `an executor that is blocked holds up no deadline`() async {
        let (caller, queue, _) = await callerOfBlockedExecutor()
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        queue.run()
    }

    @Test func `an executor that is blocked holds up no cancellation`() async {
        let (caller, queue, _) = await callerOfBlockedExecutor()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        queue.run()
    }

    /// Whoever enters an idle actor from an executor has it wait for that executor.
    @Test func `an executor that is blocked in the middle of a load holds up nobody`() async throws {
        let (caller, queue, service) = await callerOfBlockedExecutor()
        queue.runNext()
        let load = await loader.started(1)
        // From here on the executor is blocked, until a test says otherwise.
        let other = Task { try await service.token() }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.valueInTime }
        load?.answer(.success(validToken))
        await yieldUntil { queue.count == 1 }
        queue.runNext()
        #expect(try await caller.valueInTime == validToken)
        #expect(queue.count == 0)
    }

    @Test func `an executor that is blocked after a sign-out holds up nobody`() async throws {
        let (caller, queue, service) = await callerOfBlockedExecutor()
        let signOut = Task { await service.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        // The load is not wanted any more.
        queue.runNext()
        await yieldUntil { queue.count == 1 }
        queue.runNext()
        try await Task<Void, any Error> { await signOut.value }.valueInTime
        #expect(queue.count == 0)
    }

    /// A loader whose loads ask whether they are still wanted, when a test says so.
    private final class AskingLoader: Sendable {
        private let begun = Locked(0)
        private let hasBegun = [Event(), Event()]
        private let mayAsk = [Event(), Event()]
        private let hasAsked = [Event(), Event()]
        private let wanted = Locked<[Int: Bool]>([:])

        var loader: Loader {
            Loader { [self] in
                let load = begun.withLock { begun in
                    begun += 1
                    return begun
                }
                hasBegun[load - 1].happen()
                await mayAsk[load - 1].wait()
                wanted.withLock { $0[load] = AccessTokenLoad.isWanted }
                hasAsked[load - 1].happen()
                return validToken
            }
        }

        func started(_ load: Int) async { await hasBegun[load - 1].wait() }

        /// What a load is told when it asks now.
        func isWanted(_ load: Int) async -> Bool? {
            mayAsk[load - 1].happen()
            await hasAsked[load - 1].wait()
            return wanted.withLock { $0[load] }
        }
    }

    @Test(arguments: Engine.allCases)
    func `a load is wanted while callers wait for it`(_ engine: Engine) async throws {
        let asking = AskingLoader()
        let service = engine.make(asking.loader, clock: clock)
        let caller = Task { try await service.token() }
        await asking.started(1)
        #expect(await asking.isWanted(1) == true)
        #expect(try await caller.valueInTime == validToken)
    }

    /// A loader that waits before it can send its request would send what the next load has sent already.
    @Test(arguments: Engine.allCases)
    func `a load that is past its deadline is not wanted`(_ engine: Engine) async {
        let asking = AskingLoader()
        let service = engine.make(asking.loader, clock: clock)
        let caller = Task { try await service.token() }
        await asking.started(1)
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await caller.valueInTime }
        #expect(await asking.isWanted(1) == false)
    }

    @Test(arguments: Engine.allCases)
    func `the load that follows one that is past its deadline is wanted`(_ engine: Engine) async {
        let asking = AskingLoader()
        let service = engine.make(asking.loader, clock: clock)
        let first = Task { try await service.token() }
        await asking.started(1)
        clock.advance(by: 60)
        await #expect(throws: AccessTokenError.loadTimedOut) { try await first.valueInTime }
        let second = Task { try await service.token() }
        await asking.started(2)
        #expect(await asking.isWanted(2) == true)
        _ = await (asking.isWanted(1), second.result)
    }

    @Test(arguments: Engine.allCases)
    func `a load of a session that is over is not wanted`(_ engine: Engine) async throws {
        let asking = AskingLoader()
        let service = engine.make(asking.loader, clock: clock)
        let caller = Task { try await service.token() }
        await asking.started(1)
        await service.beginSession(with: validToken)
        #expect(try await caller.valueInTime == validToken)
        #expect(await asking.isWanted(1) == false)
    }

    /// Its answer has come: the next load may be sending the same refresh token.
    @Test(arguments: Engine.allCases)
    func `a load that has ended is not wanted in a task that outlives it`(_ engine: Engine) async {
        let isOver = Event()
        let task = Locked<Task<Bool, Never>?>(nil)
        let loader = Loader {
            let outliving = Task {
                await isOver.wait()
                return AccessTokenLoad.isWanted
            }
            task.withLock { $0 = outliving }
            throw CancellationError()
        }
        let service = engine.make(loader, clock: clock)
        await #expect(throws: CancellationError.self) { try await service.token() }
        isOver.happen()
        #expect(await task.withLock { $0 }?.value == false)
    }

    /// The service decides later what follows.
    @Test func `a load is not wanted from the moment of its end`() {
        let id = Load.ID(service: ServiceID(), sessionEpoch: 1, number: 1)
        let load = Load(id: id, replacing: nil, enclosing: [id])
        let context = LoadContext(of: load) { true }
        #expect(context.isWanted())
        load.ended.fire()
        #expect(!context.isWanted())
    }

    @Test func `code outside of a load is wanted`() {
        #expect(AccessTokenLoad.isWanted)
    }

    @Test(arguments: Engine.allCases)
    func `a process that was stopped reads an answer that came meanwhile before a deadline passes`(
        _ engine: Engine
    ) async throws {
        let clock = ClockOfStoppedProcess(now: clock.now)
        let service = engine.make(loader, clock: clock)
        let caller = Task { try await service.token() }
        let load = await loader.started(1)
        clock.goOn()
        load?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
    }

    @Test(arguments: Engine.allCases)
    func `an answered load leaves no timer`(_ engine: Engine) async throws {
        let service = engine.make(loader, clock: clock)
        let caller = Task { try await service.token() }
        await loader.started(1)?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
        await yieldUntil { clock.pendingTimers == 0 }
    }

    @Test(arguments: Engine.allCases)
    func `a kept retrieval keeps no service`(_ engine: Engine) async {
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
        retrieval?.cancel()
    }

    // MARK: Queues and threads that are blocked

    /// A service as callback code sees it, whose handlers' queue is blocked for good.
    private func service(_ engine: Engine, token: AccessToken? = nil) -> any AccessTokenProviding {
        let queue = HeldQueue()
        switch engine {
        case .queue:
            return AccessTokenService(
                token: token,
                loader: loader,
                policy: AccessTokenPolicy(),
                clock: clock,
                loaderOn: DispatchQueue(label: "loader"),
                handlersOn: queue,
                events: nil
            )
        case .actor:
            let service = AsyncAccessTokenService(token: token, loader: loader, clock: clock)
            return CallbackServiceAdapter(of: service, handlersOn: queue)
        }
    }

    @Test(arguments: Engine.allCases)
    func `an async caller that waits for a load does not wait for the handlers' queue`(_ engine: Engine) async throws {
        let service = service(engine)
        let caller = Task { try await service.token() }
        await loader.started(1)?.answer(.success(validToken))
        #expect(try await caller.valueInTime == validToken)
    }

    @Test(arguments: Engine.allCases)
    func `an async caller for whom there is a token does not wait for the handlers' queue`(_ engine: Engine)
        async throws
    {
        let service = service(engine, token: validToken)
        let caller = Task { try await service.token() }
        #expect(try await caller.valueInTime == validToken)
    }

    @Test(arguments: Engine.allCases)
    func `a cancelled async caller does not wait for the handlers' queue`(_ engine: Engine) async {
        let service = service(engine)
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await service.token()
        }
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
    }

    @Test(arguments: Engine.allCases)
    func `an async invalidation does not wait for the handlers' queue`(_ engine: Engine) async throws {
        let service = service(engine, token: validToken)
        try await Task<Void, any Error> { await AsyncServiceAdapter(of: service).invalidate(validToken) }.valueInTime
    }

    @Test(arguments: Engine.allCases)
    func `an async sign-out does not wait for the handlers' queue`(_ engine: Engine) async throws {
        let service = service(engine, token: validToken)
        try await Task<Void, any Error> { await AsyncServiceAdapter(of: service).signOut() }.valueInTime
    }

    /// The threads that are blocked are shared with other tests, so that it is a process of its own that has them.
    @Test func `three hundred loaders that block hold up no deadline`() async throws {
        await #expect(processExitsWith: .success) {
            let (clock, answers) = (ManualClock(), Answers())
            let services = await Self.blockedServices(clock: clock, answers)
            let isFired = Event()
            _ = SystemClock().schedule(after: 0) { isFired.happen() }
            await isFired.wait()
            clock.advance(by: 60)
            await answers.count(services.count)
            let timedOut = answers.results.count { hasFailed($0, with: .loadTimedOut) }
            exit(timedOut == services.count ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func `three hundred loaders that block hold up no service with a loader queue of its own`() async throws {
        await #expect(processExitsWith: .success) {
            let loader = ControlledLoader()
            let services = await Self.blockedServices(clock: ManualClock(), Answers())
            let own = DispatchQueue(label: "loader")
            let healthy = AccessTokenService(loader: loader, clock: ManualClock(), loaderQueue: own)
            let caller = Task { try await healthy.token() }
            await loader.started(1)?.answer(.success(validToken))
            let token = try await caller.valueInTime
            withExtendedLifetime(services) { exit(token == validToken ? EXIT_SUCCESS : EXIT_FAILURE) }
        }
    }

    /// Services whose loaders block all threads that Dispatch has for them.
    private static func blockedServices(clock: ManualClock, _ answers: Answers) async -> [AccessTokenService] {
        let blocking = BlockingLoader()
        let services = (1...300).map { _ in AccessTokenService(loader: blocking, clock: clock) }
        for service in services { service.callFromLegacyCode(then: answers.take) }
        await yieldUntil { blocking.begun.withLock { $0 } >= 2 }
        return services
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
