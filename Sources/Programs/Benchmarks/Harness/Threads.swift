import AccessTokenSynchronization
import Foundation

/// How many threads call at once in the rows of many threads: also as many as there are processors.
let threadCounts = Set([2, 4, 8, ProcessInfo.processInfo.activeProcessorCount]).sorted()

/// Calls `body` on so many threads of their own, which begin together.
///
/// - Parameter calls: how many calls `body` makes.
/// - Returns: the time of one call of a thread, the median over the threads.
func onThreads(_ threads: Int, calls: Int, _ body: @escaping @Sendable () -> Void) -> Sample {
    let (areReady, begin, areDone) = (countdown(threads), countdown(1), countdown(threads))
    let times = Locked<[Double]>([])
    for _ in 0..<threads {
        Thread.detachNewThread {
            areReady.leave()
            begin.wait()
            let watch = Stopwatch()
            body()
            let time = watch.sample(per: calls).nanoseconds
            times.withLock { $0.append(time) }
            areDone.leave()
        }
    }
    areReady.wait()
    begin.leave()
    areDone.wait()
    return Sample(nanoseconds: Spread(times.withLock { $0 }).median)
}
