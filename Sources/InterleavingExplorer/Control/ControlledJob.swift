/// A job of the concurrency runtime that has come under control.
struct ControlledJob: Sendable {
    enum Origin: Sendable {
        /// It prefers the run's executor.
        case executor
        /// It was on its way to the process-wide pool.
        case hook
    }

    let job: UnownedJob
    let kind: JobLayout.Kind
    /// The task that it runs, or zero.
    let taskID: UInt64
    let isGroupChild: Bool
    let origin: Origin
    /// Whether it is the first job of its task.
    var isNew = false

    init(_ job: UnownedJob, from origin: Origin) {
        self.job = job
        self.origin = origin
        kind = JobLayout.kind(of: job)
        taskID = JobLayout.taskID(of: job)
        isGroupChild = JobLayout.isGroupChild(job)
    }
}
