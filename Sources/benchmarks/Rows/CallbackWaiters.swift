import AccessTokenGCD
import Dispatch
import Foundation

/// Many callbacks that wait for one load.
enum CallbackWaiters {
    /// From the first call to the last handler's end, and the heap while all of them wait.
    static func sample<Design: CallbackDesign>(_: Design.Type, count: Int) -> Sample {
        let loader = HeldLoader()
        let queue = DispatchQueue(label: "benchmarks.callbacks")
        let design = Design(loader: loader, queue: queue)
        let finished = Countdown(count)
        let before = Heap.bytesInUse
        let parking = Stopwatch()
        for _ in 0..<count {
            design.retrieve { _ in finished.signal() }
        }
        queue.sync {}
        var nanoseconds = parking.nanoseconds
        let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
        while !loader.isLoading { Thread.sleep(forTimeInterval: 0.000_01) }
        let answering = Stopwatch()
        loader.finish()
        finished.wait()
        nanoseconds += answering.nanoseconds
        return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
    }
}
