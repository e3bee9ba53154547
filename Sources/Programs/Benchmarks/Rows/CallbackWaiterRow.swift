import AccessTokenCore
import AccessTokenGCD
import Dispatch

/// The cost of each of many handlers that wait for one load, by their number.
enum CallbackWaiterRow {
    static let sundell = "Sundell's array"
    static let service = "AccessTokenService"

    typealias Retrieve = @Sendable (@escaping AccessTokenHandler) -> Void
    typealias Design = @Sendable (HeldLoader, DispatchQueue) -> Retrieve

    static let sundellDesign: Design = { loader, queue in
        let service = SundellService(loader: loader, queue: queue)
        return { service.retrieveToken(then: $0) }
    }

    static let serviceDesign: Design = { loader, queue in
        let policy = AccessTokenPolicy(loadDeadline: nil)
        let service = AccessTokenService(loader: loader, policy: policy, handlerQueue: queue)
        return { service.retrieveToken(then: $0) }
    }

    static func all(_ isQuick: Bool) -> [Comparison] {
        waiterComparisons(isQuick, of: "handlers") { count in
            [
                Contender(sundell) { run(sundellDesign, count, timeOfWaiters) },
                Contender(service, limit: 0.7) { run(serviceDesign, count, timeOfWaiters) },
            ]
        }
    }

    static func heap(_ design: Design, _ count: Int) -> Double? { run(design, count, heapOfWaiters) }

    /// From the first call to the last handler's end.
    private static func run<Figure>(_ design: Design, _ count: Int, _ measure: WaiterMeasure<Figure>) -> Figure {
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.callbacks")
        let retrieve = design(loader, queue)
        let finished = countdown(count)
        retrieve { _ in }
        loader.waitForLoad()
        let wait = {
            for _ in 0..<count { retrieve { _ in finished.leave() } }
            queue.sync {}
        }
        let figure = measure(count, wait) {
            loader.finish()
            finished.wait()
        }
        // The last handler is called before all of them are released, which is no part of the next sample.
        queue.sync {}
        return figure
    }
}
