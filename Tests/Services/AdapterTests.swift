import AccessTokenContract
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Adapters, beyond the contract", .eightAtATime)
struct AdapterTests {
    let loader = ControlledLoader()
    let clock = ManualClock()
    let answers = Answers()

    /// An async service of others: it cannot be cancelled, and records the order of the calls.
    actor ForeignService: AsyncAccessTokenProviding {
        private(set) var calls: [String] = []
        private var waiters: [CheckedContinuation<AccessToken, Never>] = []
        let signedOut = Event()

        func token() async throws -> AccessToken {
            calls.append("token")
            return await withCheckedContinuation { waiters.append($0) }
        }

        func invalidate(_ rejected: AccessToken) { calls.append("invalidate") }

        func signOut() {
            calls.append("signOut")
            signedOut.happen()
        }

        func answer(_ token: AccessToken) {
            for waiter in waiters { waiter.resume(returning: token) }
            waiters = []
        }
    }

    /// A callback service of others: it cannot cancel, and what it does with handlers is up to the test.
    final class ForeignCallbackService: AccessTokenProviding {
        let handlers = Locked<[AccessTokenHandler]>([])

        @available(*, renamed: "token()")
        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            handlers.withLock { $0.append(handler) }
            return .answered
        }

        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
        func takeHandlers() -> [AccessTokenHandler] {
            handlers.withLock { handlers in
                defer { handlers = [] }
                return handlers
            }
        }
    }

    @Test func `calls reach an async service of others in the order in which they were made`() async {
        let service = ForeignService()
        let view = CallbackServiceAdapter(of: service)
        var expected: [String] = []
        for _ in 0..<50 {
            view.callFromLegacyCode(then: answers.take)
            view.invalidate(validToken)
            expected += ["token", "invalidate"]
        }
        view.signOut {}
        await service.signedOut.wait()
        #expect(await service.calls == expected + ["signOut"])
        await service.answer(validToken)
        await answers.count(50)
    }

    @Test func `a retrieval is cancelled at once, also with a service that cannot cancel (X1)`() async {
        let service = ForeignService()
        let view = CallbackServiceAdapter(of: service)
        let retrieval = view.callFromLegacyCode(then: answers.take)
        retrieval.cancel()
        await answers.count(1)
        #expect(answers.tokens.isEmpty)
        let signedOut = Event()
        view.signOut { signedOut.happen() }
        await signedOut.wait()
        await service.answer(validToken)
        #expect(answers.results.count == 1)
    }

    @Test func `an async caller is cancelled at once, also with a callback service that cannot cancel (X1)`() async {
        let service = ForeignCallbackService()
        let view = AsyncServiceAdapter(of: service)
        let caller = Task { try await view.token() }
        await yieldUntil { service.handlers.withLock { !$0.isEmpty } }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.valueInTime }
        for handler in service.takeHandlers() { handler(.success(validToken)) }
    }

    @Test func `a callback service that drops its handler fails the async caller`() async {
        let service = ForeignCallbackService()
        let caller = Task { try await AsyncServiceAdapter(of: service).token() }
        await yieldUntil { service.handlers.withLock { !$0.isEmpty } }
        _ = service.takeHandlers()
        await #expect(throws: AccessTokenError.loadAbandoned) { try await caller.valueInTime }
    }

    @Test func `a callback service that calls its handler twice does no harm`() async throws {
        let service = ForeignCallbackService()
        let caller = Task { try await AsyncServiceAdapter(of: service).token() }
        await yieldUntil { service.handlers.withLock { !$0.isEmpty } }
        for handler in service.takeHandlers() {
            handler(.success(validToken))
            handler(.failure(AccessTokenError.signedOut))
        }
        #expect(try await caller.valueInTime == validToken)
    }

    @Test func `what a callback service does to its handlers reaches those of the callback view once`() async {
        let service = ForeignCallbackService()
        let view = CallbackServiceAdapter(of: AsyncServiceAdapter(of: service))
        view.callFromLegacyCode(then: answers.take)
        _ = service.takeHandlers()
        await answers.count(1)
        #expect(hasFailed(answers.results[0], with: .loadAbandoned))
        view.callFromLegacyCode(then: answers.take)
        for handler in service.takeHandlers() {
            handler(.success(validToken))
            handler(.failure(AccessTokenError.signedOut))
        }
        // Delivered in order: a second answer would come before this.
        let signedOut = Event()
        view.signOut { signedOut.happen() }
        await signedOut.wait()
        #expect(answers.results.count == 2)
        #expect(answers.tokens == [validToken])
    }

    @Test func `a callback loader that drops its callback fails the actor's waiters`() async {
        let service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader), clock: clock)
        let caller = Task { try await service.token() }
        await loader.started(1)?.abandon()
        await #expect(throws: AccessTokenError.loadAbandoned) { try await caller.valueInTime }
    }

    @Test func `what was invalidated through the callback view is so for the next call`() async {
        let service = AsyncAccessTokenService(loader: loader, clock: clock)
        let view = CallbackServiceAdapter(of: service)
        await service.signIn(validToken)
        for number in 1...100 {
            let next = AccessToken(value: "token \(number)")
            service.currentToken.map(view.invalidate)
            view.callFromLegacyCode(then: answers.take)
            await loader.started(number)?.answer(.success(next))
            await answers.count(number)
        }
        #expect(loader.loads.count == 100)
    }

    @Test func `the callback view answers waiters in order, also when the first calls again at once (D2)`() async {
        for round in 1...20 {
            let service = AsyncAccessTokenService(loader: loader, clock: clock)
            let view = CallbackServiceAdapter(of: service)
            let order = Locked<[Int]>([])
            let answers = Answers()
            for number in 0..<100 {
                view.callFromLegacyCode { result in
                    order.withLock { $0.append(number) }
                    if number == 0 {
                        view.callFromLegacyCode { result in
                            order.withLock { $0.append(100) }
                            answers.take(result)
                        }
                    }
                    answers.take(result)
                }
            }
            await loader.started(round)?.answer(.success(validToken))
            await answers.count(101)
            #expect(order.withLock { $0 } == Array(0...100))
        }
    }

    @Test func `a callback loader is called one call at a time through its view`() async throws {
        final class SerialLoader: AccessTokenLoader {
            private let isInside = Locked(false)
            let overlaps = Locked(0)

            func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
                visit()
                handler(.success(validToken))
            }

            func signOut(then done: @escaping @Sendable () -> Void) {
                visit()
                done()
            }

            private func visit() {
                let wasInside = isInside.withLock { isInside in
                    defer { isInside = true }
                    return isInside
                }
                if wasInside { overlaps.withLock { $0 += 1 } }
                isInside.withLock { $0 = false }
            }
        }
        let loader = SerialLoader()
        let view = AsyncLoaderAdapter(of: loader)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask { _ = try? await view.load(replacing: nil) }
                group.addTask { await view.signOut() }
            }
        }
        #expect(loader.overlaps.withLock { $0 } == 0)
    }

    @Test(arguments: [true, false])
    func `a cancelled caller gets a token that is there, through the async view too (X3)`(observed: Bool) async throws {
        let ignore: @Sendable (AccessTokenEvent) -> Void = { _ in }
        let onEvent = observed ? ignore : nil
        let service = AccessTokenService(loader: loader, clock: clock, onEvent: onEvent)
        service.signIn(validToken)
        let token = try await Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await service.token()
        }.value
        #expect(token == validToken)
    }

    @Test func `async code gets a token from a callback provider of any kind`() async throws {
        let queueService = AccessTokenService(loader: loader, clock: clock)
        queueService.signIn(validToken)
        let actor = AsyncAccessTokenService(loader: loader, clock: clock)
        await actor.signIn(validToken)
        let view = CallbackServiceAdapter(of: actor)
        let providers: [any AccessTokenProviding] = [queueService, view]
        for provider in providers { #expect(try await provider.token() == validToken) }
        #expect(try await view.token() == validToken)
        #expect(loader.loads.isEmpty)
    }

    @Test func `both worlds share one load and one cache on one service`() async throws {
        let service = AccessTokenService(loader: loader, clock: clock)
        let provider: any AsyncAccessTokenProviding = service
        service.callFromLegacyCode(then: answers.take)
        let caller = Task { try await provider.token() }
        await loader.started(1)?.answer(.success(validToken))
        await answers.count(1)
        #expect(try await caller.valueInTime == validToken)
        #expect(loader.loads.count == 1)
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
