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

    @Test(arguments: Engine.allCases)
    func `a callback loader that drops its callback fails the waiters`(_ engine: Engine) async {
        let service: any AsyncAccessTokenProviding =
            switch engine {
            case .queue: AccessTokenService(loader: loader, clock: clock)
            case .actor: AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader), clock: clock)
            }
        let caller = Task { try await service.token() }
        await loader.started(1)?.abandon()
        await #expect(throws: AccessTokenError.loadAbandoned) { try await caller.valueInTime }
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
