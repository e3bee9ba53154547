import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Adapters, beyond the contract", .eightAtATime, .timeLimit(.minutes(10)))
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

    @Test(arguments: Moment.allCases, [false, true])
    func `a cancelled caller is answered at once, whatever the service does, and its retrieval cancelled (X1, X3)`(
        _ moment: Moment,
        answersCancellation: Bool
    ) async {
        let service = CallbackService(answersCancellation: answersCancellation) {
            if moment == .duringTheCall { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
        let caller = Task {
            if moment == .before { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            return try await AsyncServiceAdapter(of: service).token()
        }
        if moment == .whileItWaits {
            await service.isCalled.wait()
            caller.cancel()
        }
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        #expect(service.isCalled.hasHappened == (moment != .before))
        #expect(service.isCancelled.hasHappened == (moment != .before))
        for handler in service.takeHandlers() { handler(.success(validToken)) }
    }

    @Test(arguments: [false, true])
    func `so is a caller with a handler`(answersCancellation: Bool) async {
        let service = CallbackService(answersCancellation: answersCancellation)
        let answers = Answers()
        let view = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
        view.callFromLegacyCode(then: answers.take).cancel()
        await answers.count(1)
        #expect(throws: CancellationError.self) { try answers.results[0].get() }
        #expect(service.isCancelled.hasHappened)
    }

    @Test(arguments: [true, false])
    func `a handler that is dropped fails its caller, and one that is called twice does no harm`(
        isDropped: Bool
    ) async {
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
        for handler in handlers where !isDropped {
            handler(.success(validToken))
            handler(.failure(AccessTokenError.signedOut))
        }
        handlers = []
        await caller.value
        // Delivered in order: a second answer would come before this.
        let signedOut = Event()
        view.signOutFromLegacyCode { signedOut.happen() }
        await signedOut.wait()
        #expect(answers.results.count == 2)
        #expect(answers.results.count { hasFailed($0, with: .loadAbandoned) } == (isDropped ? 2 : 0))
        #expect(answers.tokens.count == (isDropped ? 0 : 2))
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
        let caller = Task { try await isAdapted ? AsyncServiceAdapter(of: adapter).token() : adapter.token() }
        for _ in 0..<10 { await Task.yield() }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        mayEnd.happen()
    }

    @Test func `sign-out ends also where the handler is dropped`() async {
        let service = CallbackService()
        await AsyncServiceAdapter(of: service).signOut()
        await AsyncLoaderAdapter(of: DroppingLoader()).signOut()
        let providers: [any AccessTokenProviding] = [
            CallbackServiceAdapter(of: AsyncServiceAdapter(of: service)), AccessTokenService(loader: DroppingLoader()),
        ]
        for provider in providers {
            let isDone = Event()
            provider.signOutFromLegacyCode { isDone.happen() }
            await isDone.wait()
        }
    }

    @Test(arguments: ["the queue service itself", "the actor", "a service of others"])
    func `it is said on the handlers' queue that sign-out is done (D4)`(kind: String) async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "handlers")
        queue.setSpecific(key: key, value: true)
        let actor = AsyncAccessTokenService(loader: loader, clock: clock)
        let service: any AccessTokenProviding =
            switch kind {
            case "the actor": CallbackServiceAdapter(of: actor, handlerQueue: queue)
            case "a service of others":
                CallbackServiceAdapter(of: AsyncServiceOfOthers(base: actor), handlerQueue: queue)
            default: AccessTokenService(loader: loader, clock: clock, handlerQueue: queue)
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

    @Test(arguments: [false, true])
    func `an async call sees what was called through the adapter before`(isStacked: Bool) async throws {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let adapter = CallbackServiceAdapter(of: service)
        let view = isStacked ? CallbackServiceAdapter(of: AsyncServiceAdapter(of: adapter)) : adapter
        for _ in 0..<100 {
            view.callInOrder { await service.signIn(validToken) }
            #expect(try await view.token() == validToken)
            view.signOut {}
            await #expect(throws: AccessTokenError.signedOut) { try await view.token() }
            view.callInOrder { await service.signIn(validToken) }
            await AsyncServiceAdapter(of: view).invalidate(validToken)
            #expect(service.currentToken == nil)
            view.callInOrder { await service.signIn(validToken) }
            // From inside a call, no other call waits for the end of that one.
            let isDone = Event()
            view.callInOrder {
                await AsyncServiceAdapter(of: view).signOut()
                isDone.happen()
            }
            await isDone.wait()
            await #expect(throws: AccessTokenError.signedOut) { try await view.token() }
        }
    }

    @Test func `a service of both worlds is async by one adapter, or calls back by the other one`() async throws {
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
        #expect(try await Legacy().token() == validToken)
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
                    let inner = CallbackLoaderAdapter(of: Loader { validToken })
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

    @Test func `a callback loader is called on the queue of its view only, one call at a time`() async {
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
