/// Whether a schedule does the same each time.
@available(Executors, *)
extension Exploration {
    /// A worker thread that is awake can win against the task that asks it, many times in a row.
    private static let fewestRuns = 32

    /// Whether the next schedule is one of those that are run twice: the first, the second, the fourth and so on, few
    /// of many.
    var repeatsNextSchedule: Bool { (report.schedules + 1) & report.schedules == 0 }

    /// Runs first-in-first-out order some times more, where there were few runs.
    ///
    /// An escape can come so early that it is not seen, and a scenario that depends on more than its schedule may do
    /// the same twice, but hardly every time.
    mutating func lookAgain() {
        let fewest = min(Self.fewestRuns, explorer.maximumSchedules)
        repeatRun(under: [], times: fewest - report.schedules - repetitions)
    }

    /// Runs a schedule so many times, and fails if it does not do the same each time.
    ///
    /// - Parameter former: what it did before, if the runs are to be compared step by step.
    mutating func repeatRun(under digits: [UInt8], times: Int, after former: Repetition? = nil) {
        var former = former
        let isRecorded = former != nil
        for _ in 0..<max(0, times) {
            repetitions += 1
            let run = newRun(recorded: isRecorded)
            var chooser: any Chooser = PrefixChooser(digits: digits[...])
            let repetition = Repetition(of: run, run.execute(scenario, by: &chooser))
            if let failure = repetition.failure { return fail(failure, under: digits) }
            if let difference = former.flatMap({ repetition.difference(from: $0) }) {
                return fail((difference.kind, "the same schedule \(difference.text)"), under: digits)
            }
            former = repetition
        }
    }

    /// What one of several runs of a schedule did, as far as the explorer can see.
    struct Repetition {
        let failure: RunState.Failure?
        private let fingerprint: UInt64
        private let footprints: [Footprint]
        /// The steps with their notes, if they were recorded.
        private let steps: [TraceStep]
        /// What was marked, what operations have returned, where that can be compared, and the outcome.
        private let results: [String]

        init(of run: ScheduledRun, _ execution: Execution) {
            fingerprint = execution.fingerprint
            footprints = execution.events.map(\.footprint)
            (failure, steps, results) = run.state.withLock { state in
                let outcome = state.outcome.map { ["the outcome is \($0)"] } ?? []
                let effects = state.effects.map { "the effect “\($0)”" }
                return (state.failure, state.recording?.steps ?? [], effects + state.results + outcome)
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
            guard footprints == former.footprints, steps.count == former.steps.count,
                results.count == former.results.count
            else { return (.unrepeatable, "touched something else \(again), such as an actor or a task") }
            return nil
        }
    }
}
