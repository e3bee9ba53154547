/// Runs scenarios under every schedule of their jobs, deterministically, and replays the one that fails.
///
/// ```swift
/// let report = await Explorer().explore(scenario)
/// print(report)                     // how many schedules; the one that fails, step by step
/// ```
///
/// Under control are tasks with the run's executor, plain `Task {}` and `Task.detached`, default actors, the main
/// actor, and what goes through the ``ScheduledRun``. Anything else is reported as an escape when it resumes a task:
/// `Task.sleep`, threads and queues of the subject. What comes after the report goes to standard error. See
/// <doc:Limits>.
///
/// **Concurrency.** The schedules of an exploration run one at a time on a thread that belongs to no pool. As many
/// explorations as there are processors run side by side, and find the same as alone unless their subjects share
/// something. Code between two suspensions counts as atomic: data races are for the thread sanitizer.
@available(Executors, *)
public struct Explorer: Sendable {
    /// Which schedules are tried, and in which order.
    public var mode: SearchMode
    /// Whether schedules are left out that can show nothing new.
    ///
    /// Code that enters no actor and marks no effect is taken to touch nothing that another task can see: mark state
    /// behind a lock, an atomic, a queue or an `AsyncStream` with ``ScheduledRun/effect(_:_:)``. Without a mark no step
    /// is held there, even if nothing is left out.
    package var reduces = true
    /// Whether a step may be held where it starts or wakes a task, marks an effect, or touches a queue or the clock.
    ///
    /// If not, a step runs from one suspension to the next, and orders are left out that real threads can show.
    public var preempts = true
    /// How many delays a schedule may have at most, or `nil` for no limit; all schedules with no more are tried.
    ///
    /// A **delay** is a step that runs before another one that had waited longer. Most bugs need one or two. A report
    /// then says “all of them with up to 2 delays”, and ``ExplorationReport/verify(allowIncomplete:)`` accepts it: a
    /// scenario that is too big for a whole search is tried in the same way each time. No schedule is left out that
    /// could show nothing new, since what stands for it may have more delays.
    public var maximumDelays: Int?
    /// How many runs the search tries at most, redundant ones included; a search that ends there is not complete.
    public var maximumSchedules = 100_000
    /// How much real time the search takes at most, or `nil` for no limit; a search that ends there is not complete.
    public var maximumDuration: Duration?
    /// A scenario that so many runs do not exhaust is tried under so many random schedules, and then without
    /// interruptions, before the search goes on.
    package var runsBeforeShortcuts = 1_000
    package var randomSchedules = 2_000
    /// Hears how far the search is, on the thread of the search.
    ///
    /// If it is `nil`, and standard error is a terminal, a line there says how far the search is.
    public var onProgress: (@Sendable (ExplorationProgress) -> Void)?
    /// How much real time passes before ``onProgress`` hears of the search, and from then on.
    public var progressInterval = Duration.seconds(1)
    /// After so many steps a schedule chooses nothing more: what has waited longest runs.
    ///
    /// If the run still goes on so many steps after the last choice of something else, it is a livelock.
    ///
    /// So a task that polls is no livelock where it sees what it waits for as soon as every other task has its turn.
    /// Time does not pass while anything can run: a task that polls for what a timer brings is one. A step that has
    /// passed more preemption points than this may wait for others in a loop, without a suspension: it lets what has
    /// waited longest run at each further point, timers included. If nothing else can run, the step is a livelock, or is
    /// stuck. A search is not complete where a schedule has come to its end in this way.
    public var maximumSteps = 2_000
    /// How long, in real time, to wait for a sign of an escape before the first deadlock is called one.
    public var patience = Duration.seconds(1)
    /// How long, in real time, one step may take before it is called stuck; the search ends then, and leaves its
    /// thread.
    public var stepLimit = Duration.seconds(30)
    /// Whether the search ends with the first failure; if not, the report counts all of them.
    public var stopsAtFirstFailure = true

    /// An explorer that searches in a mode.
    public init(_ mode: SearchMode = .automatic) {
        self.mode = mode
    }

    /// Runs a scenario under the schedules of the mode.
    public nonisolated(nonsending) func explore(_ scenario: Scenario) async -> ExplorationReport {
        let exploration = Exploration(scenario, self)
        return await perform(exploration, { exploration.search() }, orElse: { exploration.stuckReport() })
    }

    /// Runs a scenario under one schedule, and records it.
    public nonisolated(nonsending) func replay(_ schedule: Schedule, of scenario: Scenario) async -> Replay {
        let exploration = Exploration(scenario, self)
        return await perform(exploration, { exploration.replay(schedule) }) {
            let failure = exploration.stuckReport().failure
            return Replay(trace: failure?.trace ?? Trace(steps: []), failure: failure)
        }
    }

    private nonisolated(nonsending) func perform<Result: Sendable>(
        _ exploration: Exploration,
        _ body: @escaping @Sendable () -> Result,
        orElse stuck: @escaping @Sendable () -> Result
    ) async -> Result {
        let surroundings = exploration.surroundings
        let watchdog = Watchdog(progress: surroundings.progress, limit: stepLimit)
        let whole = { @Sendable in
            defer { surroundings.record.giveBack() }
            return body()
        }
        return await withCheckedContinuation { continuation in
            ExploringThread.perform(whole, watching: watchdog, orElse: stuck) { continuation.resume(returning: $0) }
        }
    }
}
