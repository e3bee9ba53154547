import AccessTokenContract
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Adapters, beyond the contract", .takesTurns, .endsHangs)
struct AdapterTests {
    let loader = ControlledLoader()
    let clock = ManualClock()

    /// Drops every callback.
    private struct DroppingLoader: AccessTokenLoader {
        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {}
        func signOut(then done: @escaping @Sendable () -> Void) {}
    }

    enum Moment: CaseIterable {
        case before, duringTheCall, whileItWaits
    }

    /// A caller that is cancelled at this moment.
    private func cancelledCaller(_ moment: Moment, of service: CallbackService) async -> Task<AccessToken, any Error> {
        let caller = Task {
            if moment == .before { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            return try await AsyncServiceAdapter(of: service).token()
        }
        if moment == .whileItWaits {
            await service.isCalled.wait()
            caller.cancel()
        }
        return caller
    }

    private func callbackService(cancelling moment: Moment, answersCancellation: Bool = false) -> CallbackService {
        CallbackService(answersCancellation: answersCancellation) {
            if moment == .duringTheCall { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
    }

    @Test(arguments: Moment.allCases, [false, true])
    func `a cancelled caller is answered at once, whatever the service does (X1)`(
        _ moment: Moment,
        answersCancellation: Bool
    ) async {
        let service = callbackService(cancelling: moment, answersCancellation: answersCancellation)
        let caller = await cancelledCaller(moment, of: service)
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        for handler in service.takeHandlers() { handler(.success(validToken)) }
    }

    @Test func `a caller that is cancelled already does not reach the service (X3)`() async {
        let service = callbackService(cancelling: .before)
        _ = await cancelledCaller(.before, of: service).result
        #expect(!service.isCalled.hasHappened)
    }

    @Test(arguments: [Moment.duringTheCall, .whileItWaits])
    func `the retrieval of a cancelled caller is cancelled`(_ moment: Moment) async {
        let service = callbackService(cancelling: moment)
        _ = try? await cancelledCaller(moment, of: service).valueInTime
        await service.isCancelled.wait()
        service.takeHandlers().first?(.success(validToken))
    }

    @Test(arguments: [false, true])
    func `a cancelled caller with a handler is answered at once, whatever the service does (X1)`(
        answersCancellation: Bool
    ) async {
        let service = CallbackService(answersCancellation: answersCancellation)
        let answers = Answers()
        let view = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
        view.callFromLegacyCode(then: answers.take).cancel()
        await #expect(throws: CancellationError.self) { try await answers.first().get() }
    }

    @Test func `the retrieval of a cancelled caller with a handler is cancelled`() async {
        let service = CallbackService()
        let view = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
        view.callFromLegacyCode { _ in }.cancel()
        await service.isCancelled.wait()
    }

    /// Calls a service as a task and with a handler; what the service then does with its two handlers is up to `body`.
    private func answersOfBothWorlds(
        after body: @Sendable (AccessTokenHandler) -> Void
    ) async -> [Result<AccessToken, any Error>] {
        let service = CallbackService()
        let async = AsyncServiceAdapter(of: service)
        let view = CallbackServiceAdapter(of: async)
        let answers = Answers()
        view.callFromLegacyCode(then: answers.take)
        let caller = Task { answers.take(await async.answer()) }
        var handlers: [AccessTokenHandler] = []
        await yieldUntil {
            handlers += service.takeHandlers()
            return handlers.count == 2
        }
        for handler in handlers { body(handler) }
        handlers = []
        await caller.value
        // Delivered in order: a second answer would come before this.
        let signedOut = Event()
        view.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        return answers.results
    }

    @Test func `a handler that is dropped fails its caller`() async {
        let results = await answersOfBothWorlds { _ in }
        #expect(results.count == 2)
        #expect(results.allSatisfy { hasFailed($0, with: .loadAbandoned) })
    }

    @Test func `a handler that is called twice answers its caller once, with the first answer`() async {
        let results = await answersOfBothWorlds { handler in
            handler(.success(validToken))
            handler(.failure(AccessTokenError.signedOut))
        }
        #expect(results.map(\.token) == [validToken, validToken])
    }

    @Test(arguments: [false, true])
    func `calls reach a service of others in their order, whatever their priorities`(isWrapped: Bool) async {
        /// Leaves the executor of its caller before it reaches the actor.
        struct Wrapper: AsyncAccessTokenProviding {
            let base: any AsyncAccessTokenProviding
            @concurrent func token() async throws -> AccessToken { try await base.token() }
            @concurrent func invalidate(_ rejected: AccessToken) async { await base.invalidate(rejected) }
            @concurrent func signOut() async { await base.signOut() }
        }
        actor WrittenDown: AsyncAccessTokenProviding {
            nonisolated let calls = Locked<[String]>([])
            func token() async throws -> AccessToken {
                calls.withLock { $0.append("token") }
                return validToken
            }
            func invalidate(_ rejected: AccessToken) async { calls.withLock { $0.append("invalidate") } }
            func signOut() async { calls.withLock { $0.append("signOut") } }
        }
        for _ in 0..<50 {
            let foreign = WrittenDown()
            let adapter = CallbackServiceAdapter(of: isWrapped ? Wrapper(base: foreign) : foreign)
            let isDone = Event()
            await Task.detached(priority: .background) { _ = adapter.callFromLegacyCode { _ in } }.value
            await Task.detached(priority: .low) { adapter.invalidate(validToken) }.value
            await Task.detached(priority: .high) { adapter.signOutFromLegacyCode { isDone.happen() } }.value
            await isDone.wait()
            #expect(foreign.calls.withLock { $0 } == ["token", "invalidate", "signOut"])
        }
    }

    @Test(arguments: 1...20)
    func `a rejected token is not sent again behind a service that takes its time with it`(_: Int) async throws {
        struct Unhurried: AsyncAccessTokenProviding {
            let base: AsyncAccessTokenService
            func token() async throws -> AccessToken { try await base.token() }
            func invalidate(_ rejected: AccessToken) async {
                for _ in 0..<100 { await Task.yield() }
                await base.invalidate(rejected)
            }
            func signOut() async {}
        }
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        await service.signIn(validToken)
        let adapter = CallbackServiceAdapter(of: Unhurried(base: service))
        let sent = Locked<[AccessToken]>([])
        let isAnswered = Event()
        adapter.withToken(
            send: { (token, reply: @escaping @Sendable (Result<Void, any Error>) -> Void) in
                sent.withLock { $0.append(token) }
                reply(token == validToken ? .failure(AccessTokenError.tokenRejected) : .success(()))
            },
            then: { _ in isAnswered.happen() }
        )
        let new = AccessToken(value: "new")
        await loader.started(1)?.answer(.success(new))
        await isAnswered.wait()
        #expect(sent.withLock { $0 } == [validToken, new])
    }

    @Test func `a service of others that blocks does not stall the actor behind it`() async throws {
        final class Blocking: AsyncAccessTokenProviding {
            let base: AsyncAccessTokenService
            let calls = Locked(0)
            let isSecondMade = DispatchSemaphore(value: 0)
            let isSecondBlocked = Event()
            let isOver = DispatchSemaphore(value: 0)

            init(base: AsyncAccessTokenService) { self.base = base }

            private func block() {
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call == 1 { isSecondMade.wait() }
                guard call == 2 else { return }
                isSecondBlocked.happen()
                isOver.wait()
            }
            func token() async throws -> AccessToken {
                block()
                return try await base.token()
            }
            func invalidate(_ rejected: AccessToken) async {}
            func signOut() async {}
        }
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let foreign = Blocking(base: service)
        let adapter = CallbackServiceAdapter(of: foreign)
        let answers = Answers()
        for _ in 1...2 { adapter.callFromLegacyCode(then: answers.take) }
        foreign.isSecondMade.signal()
        await foreign.isSecondBlocked.wait()
        let direct = Task<Void, any Error> { await service.signIn(validToken) }
        await #expect(throws: Never.self) { try await direct.valueInTime }
        foreign.isOver.signal()
        await answers.count(2)
    }

    /// A service of one's own, which notes the calls as they begin.
    private final class NotingService: AsyncAccessTokenProviding {
        private let names = Locked<[String]>([])
        var calls: [String] { names.withLock { $0 } }

        private func note(_ name: String) { names.withLock { $0.append(name) } }
        nonisolated(nonsending) func token() async throws -> AccessToken {
            note("token")
            return validToken
        }
        func invalidate(_ rejected: AccessToken) async { note("invalidate") }
        func signOut() async { note("signOut") }
    }

    @Test(arguments: [true, false])
    func `an async call does not overtake calls of a service of others`(isAdapted: Bool) async throws {
        let service = NotingService()
        let adapter = CallbackServiceAdapter(of: service)
        let (hasBegun, mayEnd) = (Event(), Event())
        adapter.callInOrder {
            hasBegun.happen()
            await mayEnd.wait()
        }
        adapter.invalidate(validToken)
        adapter.signOutFromLegacyCode {}
        await hasBegun.wait()
        let caller = Task.immediate { try await isAdapted ? AsyncServiceAdapter(of: adapter).token() : adapter.token() }
        mayEnd.happen()
        #expect(try await caller.valueInTime == validToken)
        #expect(service.calls == ["invalidate", "signOut", "token"])
    }

    @Test func `an async call inside an ordered call of a service of others does not wait for that one`() async throws {
        let adapter = CallbackServiceAdapter(of: NotingService())
        let token = Task<AccessToken, any Error> {
            try await withCheckedThrowingContinuation { continuation in
                adapter.callInOrder {
                    continuation.resume(with: await AsyncServiceAdapter(of: adapter).answer())
                }
            }
        }
        #expect(try await token.valueInTime == validToken)
    }

    @Test(arguments: [true, false])
    func `a cancelled caller does not wait for calls that were made before (X1)`(isAdapted: Bool) async throws {
        let adapter = CallbackServiceAdapter(of: AsyncAccessTokenService(loader: loader, clock: clock))
        let hasBegun = Event()
        let mayEnd = Event()
        adapter.callInOrder {
            hasBegun.happen()
            await mayEnd.wait()
        }
        await hasBegun.wait()
        // Immediate: it waits before it is cancelled.
        let caller = Task.immediate { try await isAdapted ? AsyncServiceAdapter(of: adapter).token() : adapter.token() }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        mayEnd.happen()
    }

    /// What has a callback service or loader behind it that drops the end of a sign-out.
    enum DroppedEnd: CaseIterable {
        case asyncAdapterOfService, bothAdaptersOfService, asyncAdapterOfLoader, queueServiceWithLoader
    }

    @Test(arguments: DroppedEnd.allCases)
    func `sign-out ends also where the handler is dropped`(_ kind: DroppedEnd) async {
        let isDone = Event()
        let service = CallbackService()
        switch kind {
        case .asyncAdapterOfService:
            Task {
                await AsyncServiceAdapter(of: service).signOut()
                isDone.happen()
            }
        case .bothAdaptersOfService:
            CallbackServiceAdapter(of: AsyncServiceAdapter(of: service)).signOutFromLegacyCode { isDone.happen() }
        case .asyncAdapterOfLoader:
            Task {
                await AsyncLoaderAdapter(of: DroppingLoader()).signOut()
                isDone.happen()
            }
        case .queueServiceWithLoader:
            AccessTokenService(loader: DroppingLoader()).signOutFromLegacyCode { isDone.happen() }
        }
        await isDone.wait()
    }

    enum CallbackKind: CaseIterable {
        case queueService, actor, serviceOfOthers
    }

    @Test(arguments: CallbackKind.allCases)
    func `it is said on the handlers' queue that sign-out is done (D4)`(_ kind: CallbackKind) async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "handlers")
        queue.setSpecific(key: key, value: true)
        let actor = AsyncAccessTokenService(loader: loader, clock: clock)
        let service: any AccessTokenProviding =
            switch kind {
            case .queueService: AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
            case .actor: CallbackServiceAdapter(of: actor, handlerQueue: queue)
            case .serviceOfOthers: CallbackServiceAdapter(of: AsyncServiceOfOthers(base: actor), handlerQueue: queue)
            }
        let wasOnQueue = Locked<Bool?>(nil)
        let isDone = Event()
        service.signOut {
            wasOnQueue.withLock { $0 = DispatchQueue.getSpecific(key: key) }
            isDone.happen()
        }
        await isDone.wait()
        #expect(wasOnQueue.withLock { $0 } == true)
    }

    // MARK: Async calls after calls through the adapter

    /// An adapter of the actor, or an adapter of that adapter, which shares its order of calls.
    enum View: CaseIterable {
        case adapter, adapterOfAdapter

        func make(of service: AsyncAccessTokenService) -> CallbackServiceAdapter {
            let adapter = CallbackServiceAdapter(of: service)
            return self == .adapter ? adapter : CallbackServiceAdapter(of: AsyncServiceAdapter(of: adapter))
        }
    }

    // Each of them is repeated: once, a call that does not wait for the earlier ones may come in time by luck.

    @Test(arguments: View.allCases)
    func `a caller sees a sign-in that was made through the adapter before`(_ kind: View) async throws {
        for _ in 0..<100 {
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            await service.signOut()
            let view = kind.make(of: service)
            view.callInOrder { await service.signIn(validToken) }
            // A caller that came before the sign-in would be told that nobody is signed in.
            try #require(try await view.token() == validToken)
        }
    }

    @Test(arguments: View.allCases)
    func `a caller sees a sign-out that was made through the adapter before`(_ kind: View) async throws {
        for _ in 0..<100 {
            let view = kind.make(of: AsyncAccessTokenService(token: validToken, loader: loader, clock: clock))
            view.signOut {}
            try await #require(throws: AccessTokenError.signedOut) { try await view.token() }
        }
    }

    @Test(arguments: View.allCases)
    func `an async invalidation comes after a sign-in through the adapter`(_ kind: View) async throws {
        for _ in 0..<100 {
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            let view = kind.make(of: service)
            view.callInOrder { await service.signIn(validToken) }
            await AsyncServiceAdapter(of: view).invalidate(validToken)
            // An invalidation that came first would be ignored, and the sign-in would come after it.
            let haveReachedIt = Event()
            view.callInOrder { haveReachedIt.happen() }
            await haveReachedIt.wait()
            try #require(service.currentToken == nil)
        }
    }

    @Test(arguments: View.allCases)
    func `an async sign-out comes after a sign-in through the adapter`(_ kind: View) async throws {
        for _ in 0..<100 {
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            let view = kind.make(of: service)
            view.callInOrder { await service.signIn(validToken) }
            await AsyncServiceAdapter(of: view).signOut()
            try await #require(throws: AccessTokenError.signedOut) { try await service.token() }
        }
    }

    @Test(arguments: View.allCases)
    func `an async call from inside an ordered call does not wait for the end of that one`(_ kind: View) async {
        let view = kind.make(of: AsyncAccessTokenService(token: validToken, loader: loader, clock: clock))
        let isDone = Event()
        view.callInOrder {
            await AsyncServiceAdapter(of: view).signOut()
            isDone.happen()
        }
        await isDone.wait()
    }

    /// Whatever is called inside of it, it would wait for itself.
    @Test(arguments: View.allCases)
    func `an ordered call of one adapter inside one of another does not wait for that one`(_ kind: View) async {
        let inner = kind.make(of: AsyncAccessTokenService(token: validToken, loader: loader, clock: clock))
        let outer = CallbackServiceAdapter(of: AsyncServiceOfOthers(base: AsyncServiceAdapter(of: inner)))
        let isDone = Event()
        inner.callInOrder {
            outer.invalidate(validToken)
            await AsyncServiceAdapter(of: outer).signOut()
            isDone.happen()
        }
        await isDone.wait()
    }

    @Test func `callers who were cancelled before their turn at the actor start no load (X3)`() async {
        let view = CallbackServiceAdapter(of: AsyncAccessTokenService(loader: loader, clock: clock))
        let mayEnd = Event()
        view.callInOrder { await mayEnd.wait() }
        let answers = Answers()
        view.callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        mayEnd.happen()
        let isBehind = Event()
        view.callInOrder { isBehind.happen() }
        await isBehind.wait()
        #expect(clock.pendingTimers == 0 && loader.loads.isEmpty)
    }

    @Test(arguments: View.allCases)
    func `a task that outlives its ordered call comes after its own later calls`(_ kind: View) async throws {
        let queue = HeldQueue()
        let service = AsyncAccessTokenService(token: validToken, loader: loader, clock: clock, heldBy: queue)
        let view = kind.make(of: service)
        let new = AccessToken(value: "new")
        loader.duringLoad { $0.answer(.success(new)) }
        let (hasEnded, hasAsked) = (Event(), Event())
        let caller = Locked<Task<AccessToken, any Error>?>(nil)
        let outlive: @Sendable () async -> Void = {
            await hasEnded.wait()
            view.invalidate(validToken)
            // Until it has to wait, it runs here.
            let task = Task.immediate { try await view.token() }
            caller.withLock { $0 = task }
            hasAsked.happen()
        }
        view.callInOrder { Task { await outlive() } }
        queue.run()
        hasEnded.happen()
        await hasAsked.wait()
        // The invalidation has not reached the actor yet.
        let isAnswered = Event()
        let answer = Task {
            defer { isAnswered.happen() }
            return try await caller.withLock { $0 }?.valueInTime
        }
        await yieldUntil {
            queue.run()
            return isAnswered.hasHappened
        }
        #expect(try await answer.value == new)
    }

    @Test func `a task that outlives its ordered call of a service of others comes after its own later calls`()
        async throws
    {
        let service = NotingService()
        let adapter = CallbackServiceAdapter(of: service)
        let (hasEnded, hasAsked, mayEnd) = (Event(), Event(), Event())
        let caller = Locked<Task<AccessToken, any Error>?>(nil)
        let outlive: @Sendable () async -> Void = {
            await hasEnded.wait()
            adapter.callInOrder { await mayEnd.wait() }
            adapter.invalidate(validToken)
            let task = Task.immediate { try await adapter.token() }
            caller.withLock { $0 = task }
            hasAsked.happen()
        }
        adapter.callInOrder { Task { await outlive() } }
        adapter.callInOrder { hasEnded.happen() }
        await hasAsked.wait()
        mayEnd.happen()
        #expect(try await caller.withLock { $0 }?.valueInTime == validToken)
        #expect(service.calls == ["invalidate", "token"])
    }

    // MARK: Services of both worlds

    @Test func `a service of both worlds that calls back is async by an adapter`() async throws {
        final class Legacy: AccessTokenProviding, AsyncAccessTokenProviding {
            @available(*, renamed: "token()")
            func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
                handler(.success(validToken))
                return .answered
            }
            func invalidate(_ rejected: AccessToken) {}
            @available(*, renamed: "signOut()")
            func signOut(then done: @escaping @Sendable () -> Void) { done() }
            func signOut() async {}
        }
        #expect(try await Legacy().token() == validToken)
    }

    @Test func `a service of both worlds that is async calls back by an adapter`() async {
        final class Modern: AccessTokenProviding, AsyncAccessTokenProviding {
            func token() async throws -> AccessToken { validToken }
            func invalidate(_ rejected: AccessToken) {}
            func signOut() async {}
            @available(*, renamed: "token()")
            func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
                CallbackServiceAdapter(of: self).callFromLegacyCode(then: handler)
            }
            @available(*, renamed: "signOut()")
            func signOut(then done: @escaping @Sendable () -> Void) { done() }
        }
        let answers = Answers()
        Modern().callFromLegacyCode(then: answers.take)
        await answers.count(1)
        #expect(answers.tokens == [validToken])
    }

    // MARK: Loaders and executors

    @Test(arguments: [Stack.queue, .actorCallbackLoader])
    func `a callback loader that drops its callback fails the waiters`(_ stack: Stack) async {
        let service = stack.make(loader, clock, nil, executor: nil, policy: AccessTokenPolicy()).async
        let caller = Task { try await service.token() }
        await loader.started(1)?.abandon()
        await #expect(throws: AccessTokenError.loadAbandoned) { try await caller.valueInTime }
    }

    @Test(arguments: Engine.allCases)
    func `a task that a load left behind can load by the adapters when the load is over`(_ engine: Engine) async throws
    {
        let isOver = Event()
        let leftBehind = Locked<Task<AccessToken, any Error>?>(nil)
        let service = engine.make(
            Loader {
                let task = Task {
                    await isOver.wait()
                    let inner = CallbackLoaderAdapter(
                        of: Loader {
                            guard AccessTokenLoad.isWanted else { throw CancellationError() }
                            return validToken
                        }
                    )
                    return try await AsyncLoaderAdapter(of: inner).load(replacing: nil)
                }
                leftBehind.withLock { $0 = task }
                return validToken
            }
        )
        #expect(try await service.token() == validToken)
        isOver.happen()
        #expect(try await leftBehind.withLock { $0 }?.valueInTime == validToken)
    }

    @Test func `a callback loader is called on the queue of its view only`() async {
        let queue = HeldQueue()
        let view = AsyncLoaderAdapter(of: loader, loaderOn: queue, onEvent: nil)
        let load = Task { try await view.load(replacing: nil) }
        let signOut = Task { await view.signOut() }
        await yieldUntil { queue.count == 2 }
        #expect(loader.loads.isEmpty)
        #expect(loader.signOuts == 0)
        queue.run()
        await loader.started(1)?.answer(.success(validToken))
        await #expect(throws: Never.self) { try await load.valueInTime }
        await signOut.value
    }

    @Test func `code on a legacy queue enters an actor that is pinned to it`() async {
        actor Counter {
            private let executor: DispatchQueueExecutor
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
            private(set) var count = 0

            init(queue: DispatchQueue) { executor = DispatchQueueExecutor(queue: queue) }
            func add() { count += 1 }
        }
        let queue = DispatchQueue(label: "legacy")
        let counter = Counter(queue: queue)
        for _ in 0..<100 {
            queue.async { counter.assumeIsolated { $0.add() } }
            await counter.add()
        }
        queue.sync {}
        #expect(await counter.count == 200)
    }
}
