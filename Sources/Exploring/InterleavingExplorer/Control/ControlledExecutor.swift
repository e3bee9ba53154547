import Dispatch

/// Collects the jobs of an exploration's tasks instead of running them.
///
/// A task with this preference sends here: its own jobs, those of its child tasks, what follows a
/// `Task.yield`, and its entries into default actors.
@available(Executors, *)
final class ControlledExecutor: TaskExecutor {
    private struct Weak: Sendable {
        weak var run: ScheduledRun?
    }

    private struct State: Sendable {
        var served = Weak()
        /// The runs whose tasks had not ended with them.
        var former: [UInt64: Weak] = [:]
        var preference: TaskStatus.Preference?
    }

    private let state = Protected(State())

    var run: ScheduledRun? { state.withLock { $0.served.run } }

    /// Whose a task is.
    func run(of task: UInt64) -> ScheduledRun? {
        state.withLock { $0.former[task]?.run ?? $0.served.run }
    }

    /// Says whose jobs these are from now on; the run keeps the executor, not the other way round.
    func serve(_ run: ScheduledRun) {
        state.withLock { $0.served.run = run }
    }

    /// Remembers whose these tasks are, which have not ended with their run.
    func remember(_ tasks: [UInt64], of run: ScheduledRun) {
        state.withLock { state in
            for task in tasks { state.former[task] = Weak(run: run) }
        }
    }

    /// What makes a plain task prefer this executor; `nil` where the runtime is not the one that is known.
    var preference: TaskStatus.Preference? {
        state.withLock { $0.preference }
    }

    /// Finds out how a plain task can be made to prefer this executor, before there is a run.
    func findPreference() {
        Task(executorPreference: self) {}
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let task = JobLayout.taskID(of: job)
        if let run = run(of: task) {
            return run.accept(job, isFollowed: true)
        }
        TaskCensus.note(task)
        if TaskStatus.isKnown, preference == nil, JobLayout.kind(of: job) == .task {
            let preference = TaskStatus.Preference(ofTaskAt: JobLayout.address(of: job), for: self)
            state.withLock { $0.preference = preference }
        }
        release(job)
    }

    /// Lets a job go its way that is no run's, or that of a run that is over: its task can end.
    func release(_ job: UnownedJob) {
        DispatchQueue.global().async {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// The same of a job of an actor that has an executor of its own.
    func release(_ job: UnownedJob, to actor: UnownedSerialExecutor) {
        DispatchQueue.global().async { unsafe job.runSynchronously(on: actor) }
    }
}

/// A job of the concurrency runtime that has come under control.
@available(Executors, *)
struct ControlledJob: Sendable {
    let job: UnownedJob
    let kind: JobLayout.Kind
    /// The task that it runs, or zero.
    let taskID: UInt64
    let isChild: Bool
    /// Whether it is the first job of its task.
    var isNew = false
    /// Whether the task sends every job here: its way from actor to actor is known.
    var isFollowed: Bool

    init(_ job: UnownedJob, isFollowed: Bool) {
        self.job = job
        self.isFollowed = isFollowed
        kind = JobLayout.kind(of: job)
        taskID = JobLayout.taskID(of: job)
        isChild = JobLayout.isChild(job)
    }

    /// The address of the actor that the job serves; `nil` if that cannot be told.
    var actor: UInt? {
        kind == .actor && TaskStatus.isKnown ? JobLayout.wordBehind(job) : nil
    }

    var address: UInt { JobLayout.address(of: job) }
}
