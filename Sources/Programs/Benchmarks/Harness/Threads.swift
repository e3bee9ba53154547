import Foundation

/// How many threads call at once in the rows of many threads: also as many as there are processors.
let threadCounts = Set([2, 4, 8, 16, ProcessInfo.processInfo.activeProcessorCount]).sorted()

/// Calls `body` on so many threads of their own, which begin together.
///
/// The time that one thread takes is not asked for. With more threads than processors, that time depends on whether all
/// calls of a thread fit into its first turn: a thread that is done in its first turn waits for no other.
///
/// - Parameter calls: how many calls `body` makes.
/// - Returns: the time until all threads are done, divided by the number of all calls.
func onThreads(_ threads: Int, calls: Int, _ body: @escaping @Sendable () -> Void) -> Sample {
    let (areReady, begin, areDone) = (countdown(threads), countdown(1), countdown(threads))
    for _ in 0..<threads {
        Thread.detachNewThread {
            areReady.leave()
            begin.wait()
            body()
            areDone.leave()
        }
    }
    areReady.wait()
    let watch = Stopwatch()
    begin.leave()
    areDone.wait()
    return watch.sample(per: calls * threads)
}
