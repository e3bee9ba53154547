import Dispatch

/// Collects the jobs of a run's tasks instead of running them.
///
/// A task with this preference sends here: its own jobs, those of its child tasks, what follows a
/// `Task.yield`, and its entries into default actors.
final class ControlledExecutor: TaskExecutor {
    private struct Served: Sendable {
        weak var run: ScenarioRun?
    }

    private let served = Protected(Served())

    /// Says whose jobs these are; the run keeps the executor, not the other way round.
    func serve(_ run: ScenarioRun) {
        served.withLock { $0.run = run }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if let run = served.withLock({ $0.run }) {
            run.accept(job, from: .executor)
        } else {
            release(job)
        }
    }

    /// Lets a job of a run that is over go its way, so that its task can end.
    func release(_ job: UnownedJob) {
        DispatchQueue.global().async {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
