import Synchronization

/// One search through the schedules of a scenario.
@available(Executors, *)
struct Exploration {
    /// How many schedules are kept for each number of a step at which a task may have begun out of sight.
    private static let schedulesForEachStep = 4

    let scenario: Scenario
    var explorer: Explorer
    let surroundings: ScheduledRun.Surroundings
    private var escapes: EscapeLog { surroundings.escapes }
    var report: ExplorationReport
    /// Tasks that may have begun out of sight, each with its schedule.
    var missed: [(step: Int, ids: [UInt64], digits: [UInt8])] = []
    var knowledge: Knowledge
    /// What was left out so far, but for tasks that may have begun out of sight.
    var omissions: Set<Omission> = []
    private var unmarked = UnmarkedState()
    /// What the scenario permits to leave out.
    private(set) var permits: Set<Omission> = []
    private var givenUp = 0
    /// Whether more could be chosen from than a digit can tell apart, and whether a run has come to its end in order.
    private var (isWide, isLong) = (false, false)
    /// How many runs have repeated a schedule to see whether it does the same.
    var repetitions = 0
    /// Begins with the search.
    var time = SearchTime()

    /// - Parameters:
    ///   - isLayoutKnown: whether the runtime lays its jobs out as this package expects.
    ///   - seesCalls: whether calls of the runtime come by that leave no job behind.
    ///   - missesLooks: whether the process may look at cancellation in other ways.
    init(
        _ scenario: Scenario,
        _ explorer: Explorer,
        isLayoutKnown: Bool = TaskStatus.isKnown,
        seesCalls: Bool = RuntimeCalls.comeBy(),
        missesLooks: Bool = !RuntimeCalls.unseenLooks.isEmpty
    ) {
        self.scenario = scenario
        self.explorer = explorer
        surroundings = ScheduledRun.Surroundings(
            of: scenario.name,
            seeingCalls: seesCalls,
            missingLooks: missesLooks
        )
        // What stands for a schedule that was left out may have more delays.
        let reduces = isLayoutKnown && explorer.reduces && explorer.maximumDelays == nil
        let steps = Schedule.Steps(entersActorsLater: !reduces, preempts: explorer.preempts)
        knowledge = Knowledge(reduces: reduces, steps: steps)
        report = ExplorationReport(of: scenario.name, by: explorer)
        // A hook that another library has set is an escape, and is looked for before each run.
        if !GlobalHook.isInPlace(), !GlobalHook.isTaken {
            report.remarks.append(
                """
                Plain tasks are not captured, since this program does not show the runtime's hook: give each task the \
                run's executor.
                """
            )
        }
        if !isLayoutKnown {
            report.remarks.append(
                """
                No schedule is left out that can show nothing new, since the runtime of this toolchain lays out its jobs \
                in a way that is not known: the search is longer.
                """
            )
        }
        surroundings.executor.findPreference()
    }

    // MARK: A whole search

    consuming func search() -> ExplorationReport {
        time = SearchTime()
        switch explorer.mode.order {
        case .automatic: searchInOrder(atMost: explorer.maximumSchedules, withShortcuts: explorer.maximumDelays == nil)
        case .exhaustive: searchInOrder(atMost: explorer.maximumSchedules)
        case .random(let seed, let schedules): draw(min(schedules, explorer.maximumSchedules), from: seed)
        }
        if report.holds { lookAgain() }
        if report.isComplete || report.holds { lookForOmissions() }
        if let escape = escapes.close(scenario.name), report.holds {
            fail((.escape, escape), under: [])
        }
        report.isComplete = report.isComplete && report.failure?.kind != .escape
        addRemarks()
        surroundings.threads.end()
        time.end()
        return report
    }

    private mutating func addRemarks() {
        if report.holds { report.unmarked = unmarked.complaint }
        if report.holds, !report.isComplete, time.isOver, let limit = explorer.maximumDuration {
            report.isCutByTime = true
            report.remarks.append("The search ended after its maximumDuration of \(limit).")
        }
        if report.holds, !report.isComplete, isWide || isLong {
            report.hasUntriedChoices = true
            let wide = """
                At some moment more than \(Schedule.radix) steps could run: those that had waited shortest were not tried.
                """
            let long = """
                Some schedules had more than \(explorer.maximumSteps) steps, or points in one step, and came to their ends \
                in first-in-first-out order.
                """
            report.remarks += (isWide ? [wide] : []) + (isLong ? [long] : [])
        }
        if givenUp > 0 {
            report.remarks.append(
                """
                \(givenUp) run\(givenUp == 1 ? " was" : "s were") given up, since a step seemed to wait for a lock of a \
                step that was held. From then on nothing was held at that line.
                """
            )
        }
    }

    /// Whether the search is to end before it is complete; a report is about one schedule at least.
    var isOver: Bool {
        time.isOver && report.schedules > 0 || surroundings.progress.isTold.load(ordering: .sequentiallyConsistent)
    }

    /// Tries schedules by random priorities.
    mutating func draw(_ schedules: Int, from seed: UInt64) {
        var choices = 20
        let part = time.part
        time.part = .atRandom
        defer { time.part = part }
        for index in 0..<max(0, schedules) {
            if isOver { return }
            var chooser: any Chooser = PriorityChooser(
                seed: seed &+ UInt64(index) &* 0x2545_f491_4f6c_dd1d,
                demotions: index % 4,
                choices: choices
            )
            let execution = attempt(by: &chooser)
            choices = max(choices, execution.choices.count)
            if !report.holds, explorer.stopsAtFirstFailure { return }
        }
    }

    // MARK: One run

    func newRun(replaying schedule: Schedule? = nil, recorded isRecorded: Bool = false) -> ScheduledRun {
        var knowledge = knowledge
        // The schedule says of which kind its steps are, whatever the explorer would do in a search.
        if let schedule { knowledge.steps = schedule.steps }
        surroundings.record.beginRun(ofKind: knowledge.steps.marks)
        var recording = isRecorded ? Recording() : nil
        // A search tells no more than the schedule if the process ends.
        if schedule != nil { recording = Recording(shownIn: surroundings.record) }
        return ScheduledRun(
            knowing: knowledge,
            in: surroundings,
            after: report.schedules,
            steps: explorer.maximumSteps,
            patience: explorer.patience,
            recording: recording
        )
    }

    /// Runs the schedule with these digits, and says whether it had all of them.
    func runOnce(under digits: [UInt8]) -> (Execution, hasAllDigits: Bool, failure: RunState.Failure?) {
        let run = newRun()
        var chooser: any Chooser = PrefixChooser(digits: digits[...])
        let execution = run.execute(scenario, by: &chooser)
        return (execution, !chooser.isIncomplete, run.state.withLock { $0.failure })
    }

    /// Runs one schedule; if it fails, runs it once more to see it step by step.
    mutating func attempt(by chooser: inout any Chooser) -> Execution {
        if GlobalHook.isTaken {
            escapes.report("another library has taken the hook that captures “Task {}” and “Task.detached {}”")
        }
        let first = chooser
        let isRepeated = repeatsNextSchedule
        var run = newRun(recorded: isRepeated)
        var execution = run.execute(scenario, by: &chooser)
        if execution.hasMetLock {
            // A step may sleep for another reason, but hardly twice.
            chooser = first
            run = newRun(recorded: isRepeated)
            execution = run.execute(scenario, by: &chooser)
        }
        defer {
            learn(from: execution)
            time.runEnded(execution, in: report, of: run.knowledge.steps, explorer)
        }
        if execution.isPruned {
            report.redundantRuns += 1
            return execution
        }
        report.schedules += 1
        report.longestSchedule = max(report.longestSchedule, execution.steps)
        let (failure, outcome) = run.state.withLock { state in
            unmarked.look(at: state)
            permits = state.permits
            return (state.failure, state.outcome)
        }
        if let outcome, report.outcomes[outcome] == nil {
            report.outcomes[outcome] = Schedule(digits: execution.digits, of: run.knowledge.steps)
        }
        if let failure {
            fail(failure, under: execution.digits)
        } else if isRepeated {
            repeatRun(under: execution.digits, times: 1, after: Repetition(of: run, execution))
        }
        return execution
    }

    /// Notes what decides how the search goes on, and what it leaves out.
    private mutating func learn(from execution: Execution) {
        knowledge.learn(from: execution)
        let findings = execution.findings
        if findings.isCutByLock { omissions.insert(.heldLocks) }
        if findings.startsTaskOutOfSight { omissions.insert(.hiddenStarts) }
        if !findings.realSleepers.isEmpty { omissions.insert(.realSleeps) }
        if findings.hasCancelled, surroundings.missesLooks { omissions.insert(.looksAtCancellation) }
        if execution.hasMetLock { givenUp += 1 }
        isWide = isWide || execution.isTruncated
        isLong = isLong || execution.isEndedInOrder
        for (step, ids) in execution.missed where missed.count(where: { $0.step == step }) < Self.schedulesForEachStep {
            missed.append((step, ids, execution.digits))
        }
    }

    /// Takes over what a search without interruptions has found.
    mutating func adopt(_ other: Exploration) {
        report.withoutInterruptions = (other.report.schedules, other.report.isComplete)
        report.runsWithoutInterruptions = other.report.runs
        let before = time
        time = other.time
        (time.part, time.runsBefore) = (before.part, before.runsBefore)
        report.failures += other.report.failures
        report.outcomes.merge(other.report.outcomes) { own, _ in own }
        report.failure = report.failure ?? other.report.failure
        (unmarked, givenUp, explorer.patience) = (other.unmarked, other.givenUp, other.explorer.patience)
        (isWide, isLong) = (other.isWide, other.isLong)
    }

    // MARK: A failure

    /// Counts a failure; the first one is run once more.
    mutating func fail(_ failure: RunState.Failure, under digits: [UInt8]) {
        report.failures += 1
        if failure.kind == .lostWaiter || failure.kind == .unfinishedTask {
            // Nothing came from outside the first time; more of them need not be waited for.
            explorer.patience = .zero
        }
        guard report.failure == nil else { return }
        let isAlwaysSo = [.escape, .divergedReplay, .unrepeatable].contains(failure.kind)
        let digits = isAlwaysSo ? digits : shorten(digits, failing: failure.kind)
        let schedule = Schedule(digits: digits, of: knowledge.steps)
        report.failure = confirm(failure, under: schedule)
    }

    /// Takes back every delay of a schedule, the last first, without which it fails as well.
    ///
    /// Most failures need few delays: many at once are taken back first, and then fewer. A search whose time is over
    /// keeps those that are left.
    private func shorten(_ digits: [UInt8], failing kind: ScenarioFailure.Kind) -> [UInt8] {
        var digits = digits
        var length = digits.count
        while length > 0 {
            for start in stride(from: 0, to: digits.count, by: length).reversed() {
                let range = start..<min(start + length, digits.count)
                guard digits[range].contains(where: Schedule.isDelay) else { continue }
                guard !time.hasTaken(explorer.maximumDuration) else { return digits }
                var shorter = digits
                for index in range where Schedule.isDelay(shorter[index]) { shorter[index] = 0 }
                let (execution, hasAllDigits, failure) = runOnce(under: Schedule(digits: shorter).digits)
                guard failure?.kind == kind, hasAllDigits else { continue }
                // Locks may have been met at other choices.
                digits = shorter.enumerated().map { $0 < execution.digits.count ? execution.digits[$0] : $1 }
            }
            length /= 2
        }
        return digits
    }

    private func confirm(_ failure: RunState.Failure, under schedule: Schedule) -> ScenarioFailure {
        let replay = replay(schedule)
        var (kind, message) = failure
        if let escape = escapes.first {
            (kind, message) = (.escape, escape)
        } else if ![.escape, .divergedReplay, .unrepeatable].contains(kind), replay.failure?.kind != kind {
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

    func replay(_ schedule: Schedule) -> Replay {
        let run = newRun(replaying: schedule)
        var chooser: any Chooser = PrefixChooser(digits: schedule.digits[...])
        let execution = run.execute(scenario, by: &chooser)
        let (steps, ended) = run.state.withLock { ($0.recording?.steps ?? [], $0.failure) }
        var failure: RunState.Failure? = escapes.first.map { (.escape, $0) } ?? ended
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
                let schedule = Schedule(digits: execution.digits, of: run.knowledge.steps)
                return ScenarioFailure(kind: $0.kind, message: $0.message, schedule: schedule, trace: trace)
            }
        )
    }
}
