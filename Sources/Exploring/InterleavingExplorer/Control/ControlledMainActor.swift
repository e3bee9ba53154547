/// Stands for the main actor in the steps of an exploration: a serial executor whose every job is a step.
///
/// Code that is isolated to the main actor runs on the thread of the step. It is never the main thread.
@available(Executors, *)
final class ControlledMainActor: SerialExecutor {
    private let executor: ControlledExecutor

    init(_ executor: ControlledExecutor) {
        self.executor = executor
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mainActor = unsafe asUnownedSerialExecutor()
        guard let queue = executor.run(of: JobLayout.taskID(of: job))?.mainQueue() else {
            // An isolated deinit: the run is over, lets go of its objects, and no other code of the main actor runs.
            if JobLayout.kind(of: job) != .task, ActiveRuns.onThisThread != nil {
                return unsafe job.runSynchronously(on: mainActor)
            }
            return unsafe executor.release(job, to: mainActor)
        }
        unsafe queue.enqueue(job, for: mainActor)
    }
}
