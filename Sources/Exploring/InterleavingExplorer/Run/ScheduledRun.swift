/// One run of a scenario under one schedule: what the setup describes, and what the subject may use.
///
/// **Concurrency.** Everything happens on one thread, one step at a time. Members may be called in the setup
/// and at any time during the run, also from inside the subject: a fake loader, for instance, may add the
/// step that answers it. A call from another thread is an escape, and is reported.
@available(Executors, *)
public final class ScheduledRun: Sendable {
    /// Brings the tasks of a subject under control: start them with this preference.
    ///
    /// Operations have it already, and their child tasks and default actors with them. Plain `Task {}` and
    /// `Task.detached` are captured as well, where the runtime permits, but may go on without a choice between two
    /// calls of an actor.
    public var executor: any TaskExecutor { controlledExecutor }

    /// Time in this run, which passes only when nothing else can happen or the schedule says so.
    public var clock: VirtualClock { VirtualClock(run: self) }

    /// What the runs of an exploration have in common.
    struct Surroundings: Sendable {
        let record: RunRecord
        let escapes = EscapeLog()
        let executor = ControlledExecutor()
        let mainActor: ControlledMainActor
        /// Whether calls of the runtime come by; if not, a census notices at least that tasks were started.
        let seesCalls: Bool
        /// Whether code may look at cancellation in a way that does not come by.
        let missesLooks: Bool
        let census: TaskCensus?
        let threads = StepThreads()
        let progress = Progress()

        init(of scenario: String, seeingCalls seesCalls: Bool, missingLooks missesLooks: Bool) {
            record = RunRecord.take(for: scenario)
            mainActor = ControlledMainActor(executor)
            // A task that waits may come back to it when the exploration is over.
            _ = unsafe Unmanaged.passRetained(mainActor)
            self.seesCalls = seesCalls
            self.missesLooks = missesLooks || !seesCalls
            census = seesCalls ? nil : TaskCensus()
        }
    }

    /// What happens when the setup is done, and what is checked.
    struct Script: Sendable {
        var beginnings: [@Sendable () -> Void] = []
        var invariants: [(name: String, holds: @Sendable () async throws -> Bool)] = []
        /// What cancels the operations that listen.
        var listeners: [@Sendable () -> Void] = []
        /// What says what the run has come to.
        var outcome: (@Sendable () async throws -> String)?
        var permanent: [(name: String, holds: @Sendable () -> Bool)] = []
    }

    /// A schedule of more steps than this goes on in first-in-first-out order, and may be a livelock.
    let maximumSteps: Int
    /// How long, in real time, to wait for a sign of an escape.
    let patience: Duration
    let state: Protected<RunState>
    let script = Protected(Script())
    let surroundings: Surroundings
    var escapes: EscapeLog { surroundings.escapes }
    var controlledExecutor: ControlledExecutor { surroundings.executor }
    /// What stands for the main actor, from its first job on.
    private let queueOfMainActor = Protected<ControlledQueue?>(nil)
    /// What runs the steps, while they are chosen.
    let scheduler = Protected<Scheduler?>(nil)

    let knowledge: Knowledge

    /// How many schedules the exploration has run before.
    let schedulesBefore: Int

    init(
        knowing knowledge: Knowledge,
        in surroundings: Surroundings,
        after schedulesBefore: Int,
        steps maximumSteps: Int,
        patience: Duration,
        recording: Recording?
    ) {
        self.maximumSteps = maximumSteps
        self.patience = patience
        self.knowledge = knowledge
        self.surroundings = surroundings
        self.schedulesBefore = schedulesBefore
        var state = RunState()
        state.recording = recording
        self.state = Protected(state)
        controlledExecutor.serve(self)
    }

    /// The queue that stands for the main actor; `nil` if the run is over.
    func mainQueue() -> ControlledQueue? {
        if let known = queueOfMainActor.withLock({ $0 }) { return known }
        guard state.withLock({ $0.phase != .over }) else { return nil }
        let queue = ControlledQueue(name: "main actor", run: self)
        queueOfMainActor.withLock { $0 = queue }
        return queue
    }

    /// Lets go of the queue, which holds the run.
    func releaseMainQueue() -> ControlledQueue? {
        queueOfMainActor.withLock { $0.take() }
    }

    /// The run that the caller is a part of, if any: the one that is under way on this thread, or that waits for it.
    ///
    /// Lets code deep inside a subject mark its effects without carrying the run there:
    /// `ScheduledRun.current?.effect("cache written")` does nothing outside an exploration.
    public static var current: ScheduledRun? {
        ActiveRuns.onThisThread ?? ActiveRuns.first(where: \.isControlling)
    }

    /// Shows a remark in the trace, at the present step.
    ///
    /// It is for the reader only and has no influence on the search; an invariant cannot see it. The text is
    /// not even made while nothing is being recorded.
    public func note(_ text: @autoclosure () -> String) {
        guard isControlling, state.withLock({ $0.isRecording }) else { return }
        let text = text()
        state.withLock { $0.record(.note, by: $0.acting, text) }
    }

    /// Marks a segment of code that touches what others can see without entering an actor, and returns its result.
    ///
    /// Such are state behind a lock, an atomic or an `AsyncStream`, and what leaves the process, such as a request.
    /// Marked segments are tried in every order, each in one piece; unmarked ones are not.
    ///
    /// ```swift
    /// let isFirst = run.effect("take") { lock.withLock { $0.take() } }
    /// ```
    public func effect<Value>(_ text: String, _ body: () throws -> Value) rethrows -> Value {
        guard isControlling else {
            reportEscape("the effect “\(text)” happened on another thread")
            return try body()
        }
        mark(text)
        state.withLock { $0.segment.openMarks += 1 }
        defer {
            state.withLock { state in
                state.segment.openMarks -= 1
                state.touchMarks()
            }
            preemptionPoint()
        }
        return try body()
    }

    /// Marks that what follows here, up to the next suspension or mark, touches what others can see.
    ///
    /// Where the touch is one expression or a few lines, prefer ``effect(_:_:)``: others can come right behind it.
    public func effect(_ text: String) {
        guard isControlling else {
            reportEscape("the effect “\(text)” happened on another thread")
            return
        }
        // What came before belongs to another segment.
        preemptionPoint()
        mark(text)
    }

    private func mark(_ text: String) {
        state.withLock { state in
            state.touchMarks()
            // A step that never ends would fill the memory.
            guard state.failure == nil else { return }
            state.effects.append(text)
            state.record(.effect, by: state.acting, text)
        }
    }

    /// The effects marked so far, in order: the history that an invariant can judge.
    public var effects: [String] {
        state.withLock { $0.effects }
    }

    /// Suspends the current task until the schedule says to go on: a disk, a server, anything slow.
    ///
    /// `await run.pause("answer")` in a fake is all that a fake network needs. It does not react to
    /// cancellation.
    public nonisolated(nonsending) func pause(_ name: String) async {
        // Unchecked, since a run that has failed is left as it is, tasks that wait included.
        await unsafe withUnsafeContinuation { continuation in
            let wake = { @Sendable in unsafe continuation.resume() }
            state.withLock { $0.segment.isPausing = true }
            if !add(.wake(wake), name) {
                wake()
            }
        }
    }
}
