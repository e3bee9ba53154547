import Dispatch

/// Runs scenarios under every schedule of their jobs, deterministically, and replays the one that fails.
///
/// ```swift
/// let report = await Explorer().explore(scenario)
/// print(report)                     // how many schedules; the one that fails, step by step
/// ```
///
/// Under control are tasks with the run's executor, plain `Task {}` and `Task.detached`, default actors, and
/// what goes through the ``ScenarioRun``. What is not is reported as an escape as soon as it resumes
/// anybody: the main actor, `Task.sleep`, threads and queues of the subject. A task that has not ended when its
/// scenario has is a failure too; see ``ScenarioRun/permitUnfinishedTasks()``. What comes after the
/// report goes to standard error. What can go unnoticed is a resumption so early that its task has not been
/// suspended yet; the task then goes on without a choice. A search of few schedules repeats first-in-first-out
/// order, which makes that less likely; on a busy machine it still happens.
///
/// **Concurrency.** The schedules of an exploration run one at a time on a thread that belongs to no pool.
/// Explorations run side by side, as many as there are processors, and others wait their turn; what one finds does
/// not depend on the others unless their subjects share something. Code between two suspensions counts as atomic:
/// data races of nonisolated code are for the thread sanitizer.
public struct Explorer: Sendable {
    /// Which schedules are tried, and in which order.
    public var mode: SearchMode
    /// Which schedules are left out because they can show nothing new.
    public var reductions = Reductions.all
    /// The search ends after so many schedules, and is not complete then.
    public var maximumSchedules = 100_000
    /// A schedule of more steps than this is a livelock.
    public var maximumSteps = 2_000
    /// How long, in real time, to wait for a sign of an escape before the first deadlock is called one.
    public var patience = Duration.seconds(1)
    /// Whether the search ends with the first failure; if not, the report counts all of them.
    public var stopsAtFirstFailure = true
    /// Whether plain `Task {}` and `Task.detached` are captured; if not, they run on the process-wide pool.
    public var capturesPlainTasks = true

    /// An explorer that searches in a mode.
    public init(_ mode: SearchMode = .exhaustive) {
        self.mode = mode
    }

    /// Runs a scenario under the schedules of the mode.
    public nonisolated(nonsending) func explore(_ scenario: Scenario) async -> ExplorationReport {
        await onExploringThread { Exploration(scenario, self).search() }
    }

    /// Runs a scenario under the schedules of the mode, and blocks the calling thread meanwhile.
    public func explore(_ scenario: Scenario) -> ExplorationReport {
        onExploringThread { Exploration(scenario, self).search() }
    }

    /// Runs a scenario under one schedule, and records it.
    public nonisolated(nonsending) func replay(_ schedule: Schedule, of scenario: Scenario) async -> Replay {
        await onExploringThread { Exploration(scenario, self).replay(schedule) }
    }

    /// Runs a scenario under one schedule, records it, and blocks the calling thread meanwhile.
    public func replay(_ schedule: Schedule, of scenario: Scenario) -> Replay {
        onExploringThread { Exploration(scenario, self).replay(schedule) }
    }

    private nonisolated(nonsending) func onExploringThread<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            ExploringThread.perform { continuation.resume(returning: body()) }
        }
    }

    private func onExploringThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let result = Protected<Result?>(nil)
        let done = DispatchSemaphore(value: 0)
        ExploringThread.perform {
            let value = body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("An exploration ends with a result")
        }
        return value
    }
}
