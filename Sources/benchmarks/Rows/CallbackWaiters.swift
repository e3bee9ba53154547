import AccessTokenGCD
import Dispatch
import Foundation

/// Many callbacks that wait for one load.
enum CallbackWaiters {
    /// From the first call to the last handler's end, and the heap while all of them wait.
    ///
    /// The load is under way already, as for async waiters: its start is no waiter's price.
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
