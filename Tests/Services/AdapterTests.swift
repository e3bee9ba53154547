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
