/// One search through the schedules of a scenario.
struct Exploration {
    /// A worker thread that is awake can win against the task that asks it, many times in a row.
    private static let fewestRuns = 32

    private let scenario: Scenario
    private var explorer: Explorer
    private let escapes = EscapeLog()
    private var report: ExplorationReport

    init(_ scenario: Scenario, _ explorer: Explorer) {
        self.scenario = scenario
        self.explorer = explorer
        report = ExplorationReport(scenario: scenario.name, mode: explorer.mode)
        if explorer.capturesPlainTasks {
            _ = GlobalHook.isInstalled
        }
    }

    /// Searches in the explorer's mode.
    consuming func search() -> ExplorationReport {
        switch explorer.mode {
        case .exhaustive: deepen(to: .max)
        case .bounded(let departures): deepen(to: departures)
        case .random(let seed, let schedules): draw(schedules, from: seed)
        }
        if report.failure == nil {
            lookAgain()
        }
        if let escape = escapes.close(scenario.name), report.failure == nil {
            fail((.escape, escape), under: [])
        }
        report.isComplete = report.isComplete && report.failure?.kind != .escape
        return report
    }

    /// Runs one schedule and records it.
    func replay(_ schedule: Schedule) -> Replay {
        // Tried before the run, so that nothing of it gets in between.
        _ = ActorIdentity.isKnown
        let run = ScenarioRun(explorer, escapes: escapes, recording: true)
        var chooser = PrefixChooser(digits: schedule.digits)
        let drive = run.drive(scenario, by: &chooser)
        let (steps, ended) = run.board.withLock { ($0.steps ?? [], $0.failure) }
        var failure = ended
        if chooser.isIncomplete, failure?.kind != .escape, failure?.kind != .divergedReplay {
            // Whatever came of it, it is not what the schedule was written down for.
            let end = failure.map { "\($0.kind) (\($0.message))" } ?? "its end"
            failure = (.divergedReplay, "the run came to \(end) when digits of the schedule were left")
        }
        let trace = Trace(steps: steps)
        return Replay(
            trace: trace,
            failure: failure.map {
                let schedule = Schedule(digits: drive.frames.map { $0.digit })
                return ScenarioFailure(kind: $0.kind, message: $0.message, schedule: schedule, trace: trace)
            }
        )
    }

    /// Tries all schedules with no departure, then all with one, and so on; each of them once.
    private mutating func deepen(to bound: Int) {
        let reduces = explorer.reductions.contains(.skipsSilentSteps)
        var level = [Prefix()]
        var departures = 0
        var isCut = false
        while !level.isEmpty {
            var next: [Prefix] = []
            while let prefix = level.popLast() {
                guard report.schedules < explorer.maximumSchedules else { return }
                // With a bound, what is asleep might have been tried with more departures than it needs.
                let asleep = bound == .max && reduces ? prefix.asleep : []
                var chooser = PrefixChooser(
                    digits: prefix.digits,
                    expected: prefix.fingerprint,
                    asleep: asleep
                )
                let drive = attempt(by: &chooser)
                isCut = isCut || drive.isTruncated
                if report.failure != nil, explorer.stopsAtFirstFailure {
                    return
                }
                let tried = drive.frames.map { $0.digit }
                if let frame = prefix.last(of: drive.frames) {
                    let visibility = reduces ? frame.visibility : .noticeable
                    // Of a preparatory step others need not be tried at this place: it comes first. A silent
                    // one can just as well come later: where others go first, it will.
                    if visibility != .preparatory, let sibling = prefix.sibling(after: frame, in: tried) {
                        level.append(sibling)
                    }
                    if visibility == .silent {
                        continue
                    }
                }
                for (index, frame) in drive.frames.enumerated().dropFirst(prefix.digits.count)
                where !reduces || frame.visibility == .noticeable {
                    guard let branch = Prefix(tried, frame, at: index) else { continue }
                    if departures < bound {
                        next.append(branch)
                    } else {
                        isCut = true
                    }
                }
            }
            level = next
            departures += 1
        }
        report.isComplete = !isCut
    }

    /// Tries schedules by random priorities.
    private mutating func draw(_ schedules: Int, from seed: UInt64) {
        var choices = 20
        for index in 0..<min(schedules, explorer.maximumSchedules) {
            var chooser = PriorityChooser(
                seed: seed &+ UInt64(index) &* 0x2545_f491_4f6c_dd1d,
                demotions: index % 4,
                choices: choices
            )
            let drive = attempt(by: &chooser)
            choices = max(choices, drive.frames.count)
            if report.failure != nil, explorer.stopsAtFirstFailure {
                return
            }
        }
    }

    /// Runs first-in-first-out order some times more, where there were few schedules.
    ///
    /// What happens outside of control can be so early that nothing is seen of it, but hardly every time. And a
    /// scenario that depends on anything but its schedule may do the same twice, but hardly more often.
    private mutating func lookAgain() {
        var fingerprint: UInt64?
        for _ in 0..<max(0, Self.fewestRuns - report.schedules) {
            let run = ScenarioRun(explorer, escapes: escapes, recording: false)
            var chooser = PrefixChooser(digits: [])
            let drive = run.drive(scenario, by: &chooser)
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
    private mutating func attempt(by chooser: inout some Chooser) -> ScenarioRun.Drive {
        let run = ScenarioRun(explorer, escapes: escapes, recording: false)
        let drive = run.drive(scenario, by: &chooser)
        if drive.isPruned {
            return drive
        }
        report.schedules += 1
        report.longestSchedule = max(report.longestSchedule, drive.steps)
        guard let failure = run.board.withLock({ $0.failure }) else { return drive }
        fail(failure, under: drive.frames.map { $0.digit })
        return drive
    }

    /// Counts a failure; the first one is run once more.
    private mutating func fail(_ failure: (kind: ScenarioFailure.Kind, message: String), under digits: [UInt8]) {
        report.failures += 1
        if failure.kind == .lostWaiter || failure.kind == .unfinishedTask {
            // Nothing came from outside the first time; more of them need not be waited for.
            explorer.patience = .zero
        }
        guard report.failure == nil else { return }
        var digits = digits
        if case .random = explorer.mode {
            digits = shorten(digits, failing: failure.kind)
        }
        report.failure = confirm(failure, under: Schedule(digits: digits))
    }

    /// Takes back every departure of a schedule, the last first, without which it fails as well.
    private func shorten(_ digits: [UInt8], failing kind: ScenarioFailure.Kind) -> [UInt8] {
        var digits = digits
        for index in digits.indices.reversed() where digits[index] != 0 {
            var shorter = digits
            shorter[index] = 0
            let run = ScenarioRun(explorer, escapes: escapes, recording: false)
            var chooser = PrefixChooser(digits: Schedule(digits: shorter).digits)
            _ = run.drive(scenario, by: &chooser)
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
