import Synchronization

/// One search through the schedules of a scenario.
struct Exploration {
    /// A worker thread that is awake can win against the task that asks it, many times in a row.
    private static let fewestRuns = 32

    private let scenario: Scenario
    private(set) var explorer: Explorer
    let surroundings: ScenarioRun.Surroundings
    private var escapes: EscapeLog { surroundings.escapes }
    var report: ExplorationReport
    /// Tasks that may have begun out of sight, each with its schedule.
    var missed: [(tasks: Driver.MissedTasks, digits: [UInt8])] = []
    /// How many schedules are kept for each number of a step.
    private static let schedulesForEachStep = 4
    /// Whether a run has shown that the subject cancels tasks itself.
    var watchesCancellation = false
    /// Whether a lock of the subject has kept others from going on before something that they can notice.
    var isCutByLock = false

    /// - Parameter isLayoutKnown: whether the runtime lays its jobs out as this package expects.
    init(_ scenario: Scenario, _ explorer: Explorer, isLayoutKnown: Bool = TaskStatus.isKnown) {
        self.scenario = scenario
        self.explorer = explorer
        surroundings = ScenarioRun.Surroundings(crumbs: Breadcrumbs(scenario.name, file: explorer.breadcrumbs))
        report = ExplorationReport(scenario: scenario.name, mode: explorer.mode)
        // A hook that another library has set is an escape, and is looked for before each run.
        if explorer.capturesPlainTasks, !GlobalHook.isInPlace(), !GlobalHook.isTaken {
            report.limitations.append(
                """
                Plain tasks are not captured, since this program does not show the runtime's hook: give each task the \
                run's executor.
                """
            )
        }
        if !isLayoutKnown {
            self.explorer.reductions = .none
            report.limitations.append(
                """
                No schedule is left out that can show nothing new, since the runtime of this toolchain lays out its jobs \
                in a way that is not known: the search is longer.
                """
            )
        }
        if let path = explorer.breadcrumbs, !surroundings.crumbs.hasFile {
            report.limitations.append("No breadcrumbs are left: \(path) cannot be written.")
        }
        surroundings.executor.findPreference()
    }

    /// Searches in the explorer's mode.
    consuming func search() -> ExplorationReport {
        var bound = Int.max
        switch explorer.mode {
        case .exhaustive: deepen(to: bound, maximum: explorer.maximumSchedules)
        case .bounded(let delays):
            bound = delays
            deepen(to: bound, maximum: explorer.maximumSchedules)
        case .random(let seed, let schedules): draw(schedules, from: seed)
        }
        if report.failure == nil {
            lookAgain()
        }
        if report.isComplete { lookForOmissions(ofSearchTo: bound) }
        if let escape = escapes.close(scenario.name), report.failure == nil {
            fail((.escape, escape), under: [])
        }
        report.isComplete = report.isComplete && report.failure?.kind != .escape
        surroundings.threads.end()
        return report
    }

    /// What there is to say when a step does not end, and so the search does not either.
    func stuckReport() -> ExplorationReport {
        let (schedule, schedules, participant) = surroundings.crumbs.present
        var report = report
        report.schedules = schedules + 1
        report.failures = 1
        report.failure = ScenarioFailure(
            kind: .stuckStep,
            message: """
                a step of \(participant ?? "the scenario") has not ended for \(explorer.stepLimit): it loops without \
                suspending, or waits for a lock or a thread
                """,
            schedule: schedule,
            trace: Trace(steps: [])
        )
        return report
    }

    /// The same for a replay.
    func stuckReplay() -> Replay {
        Replay(trace: Trace(steps: []), failure: stuckReport().failure)
    }

    /// Runs one schedule and records it.
    func replay(_ schedule: Schedule) -> Replay {
        // Tried before the run, so that nothing of it gets in between.
        _ = ActorIdentity.isKnown
        let run = newRun(recording: true, replaying: schedule)
        var chooser: any Chooser = PrefixChooser(digits: schedule.digits)
        let drive = drive(run, by: &chooser)
        let (steps, ended) = run.board.withLock { ($0.steps ?? [], $0.failure) }
        var failure = ended
        if chooser.isIncomplete, failure?.kind != .escape, failure?.kind != .divergedReplay {
            // Whatever came of it, it is not what the schedule was written down for.
            let end = failure.map { "\($0.kind) (\($0.message))" } ?? "its end"
            failure = (.divergedReplay, "the run came to \(end) when digits of the schedule were left")
        }
        surroundings.threads.end()
        let trace = Trace(steps: steps)
        return Replay(
            trace: trace,
            failure: failure.map {
                let digits = drive.frames.map { $0.digit }
                let schedule = Schedule(digits: digits, entersActorsLater: run.entersActorsLater)
                return ScenarioFailure(kind: $0.kind, message: $0.message, schedule: schedule, trace: trace)
            }
        )
    }

    var isAbandoned: Bool {
        surroundings.pulse.isAbandoned.load(ordering: .sequentiallyConsistent)
    }

    /// Tries schedules by random priorities.
    private mutating func draw(_ schedules: Int, from seed: UInt64) {
        var choices = 20
        for index in 0..<max(0, min(schedules, explorer.maximumSchedules)) where !isAbandoned {
            var chooser: any Chooser = PriorityChooser(
                seed: seed &+ UInt64(index) &* 0x2545_f491_4f6c_dd1d,
                demotions: index % 4,
                choices: choices
            )
            let drive = attempt(by: &chooser)
            choices = max(choices, drive.frames.count)
            if drive.isToEnterActorsLater { entersActorsLater() }
            if report.failure != nil, explorer.stopsAtFirstFailure {
                return
            }
        }
    }

    /// Makes asking for an actor and entering it two steps, and returns whether they were one.
    @discardableResult
    mutating func entersActorsLater() -> Bool {
        explorer.reductions.remove(.entersActorsAtOnce) != nil
    }

    func newRun(recording: Bool, replaying schedule: Schedule? = nil) -> ScenarioRun {
        var explorer = explorer
        // The schedule says of which kind its steps are, whatever the explorer would do in a search.
        if let schedule, schedule.entersActorsLater { explorer.reductions.remove(.entersActorsAtOnce) }
        if let schedule, !schedule.entersActorsLater { explorer.reductions.insert(.entersActorsAtOnce) }
        return ScenarioRun(explorer, watchesCancellation: watchesCancellation, in: surroundings, recording: recording)
    }

    /// Runs one schedule.
    func drive(_ run: ScenarioRun, by chooser: inout any Chooser) -> Driver.Drive {
        surroundings.crumbs.begin(run, after: report.schedules)
        return run.drive(scenario, by: &chooser)
    }

    /// Runs first-in-first-out order some times more, where there were few schedules.
    ///
    /// What happens outside of control can be so early that nothing is seen of it, but hardly every time. And a
    /// scenario that depends on anything but its schedule may do the same twice, but hardly more often.
    private mutating func lookAgain() {
        var fingerprint: UInt64?
        for _ in 0..<max(0, Self.fewestRuns - report.schedules) {
            let run = newRun(recording: false)
            var chooser: any Chooser = PrefixChooser(digits: [])
            let drive = drive(run, by: &chooser)
            if let failure = run.board.withLock({ $0.failure }) {
                return fail(failure, under: [])
            }
            if let fingerprint, fingerprint != drive.fingerprint {
                return fail((.divergedReplay, "the same schedule led elsewhere when it was run again"), under: [])
            }
            fingerprint = drive.fingerprint
        }
    }

    /// Runs one schedule; if it fails, runs it once more to see it step by step.
    mutating func attempt(by chooser: inout any Chooser) -> Driver.Drive {
        if explorer.capturesPlainTasks, GlobalHook.isTaken {
            escapes.report("another library has taken the hook that captures “Task {}” and “Task.detached {}”")
        }
        let run = newRun(recording: false)
        let drive = drive(run, by: &chooser)
        noteMissedTasks(of: drive)
        isCutByLock = isCutByLock || drive.isCutByLock
        if drive.isPruned {
            report.redundantRuns += 1
            return drive
        }
        report.schedules += 1
        report.longestSchedule = max(report.longestSchedule, drive.steps)
        guard let failure = run.board.withLock({ $0.failure }) else { return drive }
        fail(failure, under: drive.frames.map { $0.digit })
        return drive
    }

    private mutating func noteMissedTasks(of drive: Driver.Drive) {
        let digits = drive.frames.map { $0.digit }
        for tasks in drive.missed where missed.count(where: { $0.tasks.step == tasks.step }) < Self.schedulesForEachStep
        {
            missed.append((tasks, digits))
        }
    }

    /// Counts a failure; the first one is run once more.
    private mutating func fail(_ failure: (kind: ScenarioFailure.Kind, message: String), under digits: [UInt8]) {
        report.failures += 1
        if failure.kind == .lostWaiter || failure.kind == .unfinishedTask {
            // Nothing came from outside the first time; more of them need not be waited for.
            explorer.patience = .zero
        }
        guard report.failure == nil else { return }
        let isAlwaysSo = failure.kind == .escape || failure.kind == .divergedReplay
        let digits = isAlwaysSo ? digits : shorten(digits, failing: failure.kind)
        let entersActorsLater = !explorer.reductions.contains(.entersActorsAtOnce)
        report.failure = confirm(failure, under: Schedule(digits: digits, entersActorsLater: entersActorsLater))
    }

    /// Takes back every delay of a schedule, the last first, without which it fails as well.
    private func shorten(_ digits: [UInt8], failing kind: ScenarioFailure.Kind) -> [UInt8] {
        var digits = digits
        for index in digits.indices.reversed() where digits[index] != 0 {
            var shorter = digits
            shorter[index] = 0
            let run = newRun(recording: false)
            var chooser: any Chooser = PrefixChooser(digits: Schedule(digits: shorter).digits)
            _ = drive(run, by: &chooser)
            if run.board.withLock({ $0.failure?.kind }) == kind, !chooser.isIncomplete {
                digits = shorter
            }
        }
        return digits
    }

    private func confirm(
        _ failure: (kind: ScenarioFailure.Kind, message: String),
        under schedule: Schedule
    ) -> ScenarioFailure {
        let replay = replay(schedule)
        var (kind, message) = failure
        if let escape = escapes.first {
            (kind, message) = (.escape, escape)
        } else if kind != .escape, kind != .divergedReplay, replay.failure?.kind != kind {
            message = """
                \(kind) (\(message)) at first, but in the replay \(replay.failure?.kind.description ?? "no failure"): \
                the scenario depends on something but its schedule
                """
            kind = .divergedReplay
        } else if let confirmed = replay.failure, confirmed.kind == kind {
            message = confirmed.message
        }
        return ScenarioFailure(kind: kind, message: message, schedule: schedule, trace: replay.trace)
    }
}
