import AccessTokenCore
import AccessTokenGCD
import Dispatch
import Foundation

/// Many callbacks that wait for one load.
enum CallbackWaiters {
    /// From the first call to the last handler's end, and the heap while all of them wait.
    ///
    /// The load runs already, as for async waiters: its start is not part of a waiter's cost.
    static func sample<Design: CallbackDesign>(_: Design.Type, count: Int) -> Sample {
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.callbacks")
        let design = Design(loader: loader, queue: queue)
        let finished = Countdown(count)
        design.retrieve { _ in }
        while !loader.isLoading { Thread.sleep(forTimeInterval: 0.000_01) }
        let before = Heap.bytesInUse
        let parking = Stopwatch()
        for _ in 0..<count {
            design.retrieve { _ in finished.signal() }
        }
        queue.sync {}
        var nanoseconds = parking.nanoseconds
        let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
        let answering = Stopwatch()
        loader.finish()
        finished.wait()
        nanoseconds += answering.nanoseconds
        // The last handler is called before all of them are released, and the next sample looks at the heap.
        queue.sync {}
        return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
    }
}

/// A way for callers with callbacks to wait for one load together.
protocol CallbackDesign: Sendable {
    static var name: String { get }

    init(loader: any AccessTokenLoader, queue: DispatchQueue)
    func retrieve(then handler: @escaping AccessTokenHandler)
}

/// Sundell's queue and array.
struct SundellDesign: CallbackDesign {
    static let name = "Sundell's array"
    private let service: SundellService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = SundellService(loader: loader, queue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}

/// The queue service of this package.
struct QueueServiceDesign: CallbackDesign {
    static let name = "AccessTokenService"
    private let service: AccessTokenService

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        service = AccessTokenService(loader: loader, policy: AccessTokenPolicy(loadDeadline: nil), handlerQueue: queue)
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { service.retrieveToken(then: handler) }
}

/// The lowest cost of handlers on a queue: an array, and one block that calls all of them.
final class HandlerArrayDesign: CallbackDesign {
    static let name = "bare array and queue.async"
    private let queue: DispatchQueue
    private let handlers = Locked<[AccessTokenHandler]>([])

    init(loader: any AccessTokenLoader, queue: DispatchQueue) {
        self.queue = queue
        loader.load(replacing: nil) { [self] result in
            let waiting = handlers.withLock { handlers in
                defer { handlers = [] }
                return handlers
            }
            self.queue.async { for handler in waiting { handler(result) } }
        }
    }

    func retrieve(then handler: @escaping AccessTokenHandler) { handlers.withLock { $0.append(handler) } }
}
