/// Whether a schedule does the same each time.
@available(Executors, *)
extension Exploration {
    /// A worker thread that is awake can win against the task that asks it, many times in a row.
    private static let fewestRuns = 32

    /// Runs first-in-first-out order some times more, where there were few schedules.
    ///
    /// An escape can come so early that it is not seen, and a scenario that depends on more than its schedule may do
    /// the same twice, but hardly every time.
    mutating func lookAgain() {
        repeatRun(under: [], times: max(0, Self.fewestRuns - report.schedules))
    }

    /// Runs a schedule so many times, and fails if it does not do the same each time.
    mutating func repeatRun(under digits: [UInt8], times: Int) {
        var first: Repetition?
        for _ in 0..<times {
            let repetition = Repetition(of: digits, in: self)
            if let failure = repetition.failure { return fail(failure, under: digits) }
            guard let former = first else {
                first = repetition
                continue
            }
            guard let difference = repetition.difference(from: former) else { continue }
            return fail((difference.kind, "the same schedule \(difference.text)"), under: digits)
        }
    }

    /// What one of several runs of a schedule did, as far as the explorer can see.
    private struct Repetition {
        let failure: RunState.Failure?
        private let fingerprint: UInt64
        private let footprints: [Footprint]
        private let steps: [TraceStep]
        /// What operations have returned, where that can be compared, and the outcome.
        private let results: [String]

        init(of digits: [UInt8], in exploration: Exploration) {
            let schedule = Schedule(digits: digits, of: exploration.knowledge.steps)
            let run = exploration.newRun(replaying: schedule)
            var chooser: any Chooser = PrefixChooser(digits: digits[...])
            let execution = run.execute(exploration.scenario, by: &chooser)
            fingerprint = execution.fingerprint
            footprints = execution.events.map(\.footprint)
            (failure, steps, results) = run.state.withLock { state in
                let outcome = state.outcome.map { ["the outcome is \($0)"] } ?? []
                return (state.failure, state.recording?.steps ?? [], state.results + outcome)
            }
        }

        /// What is not as it was in a former run; `nil` if all is.
        func difference(from former: Repetition) -> (kind: ScenarioFailure.Kind, text: String)? {
            let again = "when it was run again"
            if fingerprint != former.fingerprint { return (.divergedReplay, "led elsewhere \(again)") }
            if let (now, before) = zip(steps, former.steps).first(where: { $0 != $1 }) {
                return (
                    .unrepeatable,
                    "did something else \(again): “\(now.whatHappens)”, and before “\(before.whatHappens)”"
                )
            }
            if let (now, before) = zip(results, former.results).first(where: { $0 != $1 }) {
                return (.unrepeatable, "came to something else \(again): \(now), and before \(before)")
            }
            guard footprints == former.footprints, steps.count == former.steps.count else {
                return (.unrepeatable, "touched something else \(again), such as an actor or a task")
            }
            return nil
        }
    }
}
