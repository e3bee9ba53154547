/// What a job of the concurrency runtime says about itself: the one place that knows its layout.
///
/// The flags follow four words, and their lowest byte is the kind: see `SwiftJob` in the toolchain's
/// `swift/ExecutorImpl.h`. A test fails when a new toolchain changes any of this.
@available(Executors, *)
package enum JobLayout {
    package enum Kind: Sendable, Hashable {
        /// Runs a task until it suspends.
        case task
        /// Drains the queue of a default actor.
        case actor
        /// Ends a `Task.yield`: it only asks for the job of the task that yielded.
        case hop
        /// Something else of the runtime, such as an isolated `deinit`.
        case other
    }

    /// The kind of a job, which must not have run yet.
    package static func kind(of job: UnownedJob) -> Kind {
        // The reserved kinds are those of the runtime's `JobKind`: three for actors, then the hop.
        switch flags(of: job) & 0xff {
        case 0: return .task
        case 192...194: return .actor
        case 195: return .hop
        default: return .other
        }
    }

    /// Whether a job runs a child task, which only its parent waits for.
    package static func isChild(_ job: UnownedJob) -> Bool {
        // The runtime's `Task_IsChildTask`, which is set for tasks only.
        flags(of: job) & (0xff | 1 << 24) == 1 << 24
    }

    /// The id of the task that a job runs, which is unique in the process; zero if it runs none.
    package static func taskID(of job: UnownedJob) -> UInt64 {
        if let taskIDFunction {
            return taskIDFunction(job)
        }
        // Slower, but public: "UnownedJob(id: 12)".
        return UInt64(job.description.filter(\.isNumber)) ?? 0
    }

    /// The id of the task at an address.
    static func taskID(ofTaskAt address: UInt) -> UInt64 {
        guard let task = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
        return taskID(of: unsafe unsafeBitCast(task, to: UnownedJob.self))
    }

    /// The word behind the fields that all jobs have: in the job of a default actor, the actor; see
    /// ``TaskStatus/isKnown``.
    static func wordBehind(_ job: UnownedJob) -> UInt {
        TaskStatus.word(address(of: job), 8)
    }

    private static func flags(of job: UnownedJob) -> UInt32 {
        UInt32(truncatingIfNeeded: TaskStatus.word(address(of: job), 4))
    }

    /// Where a job is; for a task's, that is where the task is.
    static func address(of job: UnownedJob) -> UInt {
        unsafe UInt(bitPattern: unsafeBitCast(job, to: UnsafeRawPointer.self))
    }

    private typealias TaskIDFunction = @convention(thin) (UnownedJob) -> UInt64

    private static let taskIDFunction: TaskIDFunction? = RuntimeSymbol.function("swift_task_getJobTaskId")
}
