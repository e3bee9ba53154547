public import Dispatch

/// Runs an actor, or tasks, on a serial queue that a codebase has already.
///
/// An actor that takes it as its executor is pinned to the queue: code that is on the queue already enters the actor
/// with `assumeIsolated`, without an `await`. So a class that guards its state by that queue becomes an actor before
/// all of its callers are async. The page "Share one service between callbacks and async code" has an example.
///
/// As the preferred executor of tasks it starts them in the order in which they were made.
///
/// **Failure** The queue must be serial, which Dispatch offers no way to check: on a concurrent queue an actor
/// would lose its isolation.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class DispatchQueueExecutor: SerialExecutor, TaskExecutor {
    private let queue: DispatchQueue

    /// Creates an executor on `queue`, which must be serial.
    public init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Runs the job on the queue, after whatever is on it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            unsafe job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor()
            )
        }
    }

    /// Traps if the present code is not on the queue; this is what lets `assumeIsolated` through.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
