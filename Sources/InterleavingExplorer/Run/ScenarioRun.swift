/// One run of a scenario under one schedule: what the setup describes, and what the subject may use.
///
/// **Concurrency.** Everything happens on one thread, one step at a time. Members may be called in the setup
/// and at any time during the run, also from inside the subject: a fake loader, for instance, may add the
/// step that answers it. A call from another thread is an escape, and is reported.
public final class ScenarioRun: Sendable {
    /// Brings the tasks of a subject under control: start them with this preference.
    ///
    /// Operations have it already, and their child tasks and default actors with them. A subject that starts
    /// unstructured tasks should take an `(any TaskExecutor)?` and get this one. Plain `Task {}` and
    /// `Task.detached` are captured as well, where the runtime permits, but less finely: between two calls of
    /// an actor they may go on without a choice.
    public var executor: any TaskExecutor { controlledExecutor }

    /// Time in this run, which passes only when nothing else can happen or the schedule says so.
    public var clock: VirtualClock { VirtualClock(run: self) }

    /// What happens when the setup is done, and what is checked.
    struct Script: Sendable {
        var beginnings: [@Sendable () -> Void] = []
        var invariants: [(name: String, holds: @Sendable () async throws -> Bool)] = []
        var permanent: [(name: String, holds: @Sendable () -> Bool)] = []
    }

    let explorer: Explorer
    let controlledExecutor = ControlledExecutor()
    let board: Protected<Board>
    let script = Protected(Script())
    let escapes: EscapeLog

    init(_ explorer: Explorer, escapes: EscapeLog, recording: Bool) {
        self.explorer = explorer
        self.escapes = escapes
        var board = Board()
        board.steps = recording ? [] : nil
        self.board = Protected(board)
        controlledExecutor.serve(self)
    }

    /// The run that the caller is a part of, if any: the one that is under way on this thread, or that waits for it.
    ///
    /// Lets code deep inside a subject mark its effects without carrying the run there:
    /// `ScenarioRun.current?.effect("cache written")` does nothing outside an exploration.
    public static var current: ScenarioRun? {
        ActiveRuns.onThisThread ?? ActiveRuns.first(where: \.isControlling)
    }

    /// The operation that the current task belongs to.
    @TaskLocal static var participant: Int?
}
