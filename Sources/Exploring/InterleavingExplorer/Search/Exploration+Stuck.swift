import Dispatch
import Synchronization

/// What there is to say of a search whose step does not end.
@available(Executors, *)
extension Exploration {
    /// How long nothing may go on in the repetition until that counts as the same end.
    private static let patienceOfRepetition = Duration.seconds(1)

    /// The report on the run that is under way, whose last step has not ended.
    func stuckReport() -> ExplorationReport {
        let run = surroundings.executor.run
        let (participant, recorded) =
            run?.state.withLock { ($0.participants.name(of: $0.segment.participant), $0.recording?.steps) }
            ?? ("the scenario", nil)
        let schedule = Schedule(parsing: surroundings.record.schedule.text) ?? Schedule(digits: [])
        let steps = recorded ?? stepsOfRepetition(of: schedule)
        var report = report
        report.schedules = 1 + (run?.schedulesBefore ?? 0)
        report.failures = 1
        report.failure = ScenarioFailure(
            kind: .stuckStep,
            message: """
                a step of \(participant) has not ended for \(explorer.stepLimit): it loops without \
                suspending, or waits for a lock or a thread
                """,
            schedule: schedule,
            trace: Trace(steps: steps)
        )
        return report
    }

    /// The steps up to the same end, which another thread runs and records; none, if it does not get stuck there.
    private func stepsOfRepetition(of schedule: Schedule) -> [TraceStep] {
        let repetition = Exploration(scenario, explorer)
        let surroundings = repetition.surroundings
        let hasEnded = DispatchSemaphore(value: 0)
        DispatchQueue(label: "InterleavingExplorer repetition").async {
            _ = repetition.replay(schedule)
            hasEnded.signal()
        }
        let deadline = ContinuousClock.now + explorer.stepLimit
        var (segments, since) = (-1, ContinuousClock.now)
        while hasEnded.wait(timeout: .now() + .milliseconds(20)) == .timedOut, ContinuousClock.now < deadline {
            let now = surroundings.progress.segments.load(ordering: .relaxed)
            if now != segments { (segments, since) = (now, .now) }
            guard ContinuousClock.now - since > Self.patienceOfRepetition else { continue }
            // As far as the first one, with the zeros at its end.
            guard surroundings.record.schedule.length >= self.surroundings.record.schedule.length else { continue }
            return surroundings.executor.run?.state.withLock { $0.recording?.steps } ?? []
        }
        return []
    }
}
