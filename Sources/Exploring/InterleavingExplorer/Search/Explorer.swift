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
/// Explorations run side by side, as many as there are processors, and others come later; what one finds does
/// not depend on the others unless their subjects share something. Code between two suspensions counts as atomic:
/// data races of nonisolated code are for the thread sanitizer.
public struct Explorer: Sendable {
    /// Which schedules are tried, and in which order.
    public var mode: SearchMode
    /// Which schedules are left out because they can show nothing new.
    public var reductions = Reductions.all
    /// Whether a step may be held where it starts or wakes a task, marks an effect, or touches a queue or the clock.
    ///
    /// If not, a step runs from one suspension to the next, and orders are left out that real threads can show.
    public var preempts = true
    /// The search ends after so many runs, redundant ones included, and is not complete then.
    public var maximumSchedules = 100_000
    /// A schedule of more steps than this is a livelock.
    public var maximumSteps = 2_000
    /// How long, in real time, to wait for a sign of an escape before the first deadlock is called one.
    public var patience = Duration.seconds(1)
    /// How long, in real time, one step may take before it is called stuck; the search ends then, and leaves its thread.
    public var stepLimit = Duration.seconds(30)
    /// A file that always holds the schedule that runs, one character for each choice, to be read after a crash.
    ///
    /// The first line is the name of the scenario; the second one is the schedule, for `replay(_:of:)`. If the file cannot be
    /// written, the report says so.
    public var breadcrumbs: String?
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
        let exploration = Exploration(scenario, self)
        return await withCheckedContinuation { continuation in
            ExploringThread.perform(
                { exploration.search() },
                watching: watchdog(of: exploration),
                orElse: { exploration.stuckReport() },
                then: { continuation.resume(returning: $0) }
            )
        }
    }

    /// Runs a scenario under the schedules of the mode, and blocks the calling thread meanwhile.
    public func explore(_ scenario: Scenario) -> ExplorationReport {
        let exploration = Exploration(scenario, self)
        return blocking { done in
            ExploringThread.perform(
                { exploration.search() },
                watching: watchdog(of: exploration),
                orElse: { exploration.stuckReport() },
                then: done
            )
        }
    }

    /// Runs a scenario under one schedule, and records it.
    public nonisolated(nonsending) func replay(_ schedule: Schedule, of scenario: Scenario) async -> Replay {
        let exploration = Exploration(scenario, self)
        return await withCheckedContinuation { continuation in
            ExploringThread.perform(
                { exploration.replay(schedule) },
                watching: watchdog(of: exploration),
                orElse: { exploration.stuckReplay() },
                then: { continuation.resume(returning: $0) }
            )
        }
    }

    /// Runs a scenario under one schedule, records it, and blocks the calling thread meanwhile.
    public func replay(_ schedule: Schedule, of scenario: Scenario) -> Replay {
        let exploration = Exploration(scenario, self)
        return blocking { done in
            ExploringThread.perform(
                { exploration.replay(schedule) },
                watching: watchdog(of: exploration),
                orElse: { exploration.stuckReplay() },
                then: done
            )
        }
    }

    private func watchdog(of exploration: Exploration) -> Watchdog {
        Watchdog(pulse: exploration.surroundings.pulse, limit: stepLimit)
    }

    private func blocking<Result: Sendable>(_ begin: (@escaping @Sendable (Result) -> Void) -> Void) -> Result {
        let result = Protected<Result?>(nil)
        let done = DispatchSemaphore(value: 0)
        begin { value in
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
