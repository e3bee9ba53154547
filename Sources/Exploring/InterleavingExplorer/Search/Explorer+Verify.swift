@available(Executors, *)
extension Explorer {
    /// The variable whose value is the one schedule that ``verify(_:allowIncomplete:)`` runs.
    static let replayVariable = "EXPLORER_REPLAY"

    /// Explores a scenario and throws its first failure, or what keeps the search from proving anything: a test of one
    /// line.
    ///
    /// ```swift
    /// @Test func noSeatIsSoldTwice() async throws { try await Explorer().verify(twoCustomers) }
    /// ```
    ///
    /// A test library records the error as an issue, with the schedule and the trace. To see that schedule alone, set
    /// `EXPLORER_REPLAY` in the environment and run that test alone: `EXPLORER_REPLAY=+0101 swift test --filter …`.
    ///
    /// **Failure.** What ``ExplorationReport/verify(allowIncomplete:)`` throws. With `EXPLORER_REPLAY` there is always
    /// an error, also if the schedule holds, since one schedule proves nothing; the error has the trace.
    public nonisolated(nonsending) func verify(
        _ scenario: Scenario,
        allowIncomplete: Bool = false
    ) async throws(ScenarioFailure) {
        guard let text = Environment.value(of: Self.replayVariable) else {
            return try await explore(scenario).verify(allowIncomplete: allowIncomplete)
        }
        guard let schedule = Schedule(parsing: text) else {
            throw ScenarioFailure(
                kind: .incompleteSearch,
                message: """
                    \(Self.replayVariable) is “\(text)”, which is no schedule: copy the one of a report, or unset it
                    """,
                schedule: Schedule(digits: []),
                trace: Trace(steps: [])
            )
        }
        let replay = await replay(schedule, of: scenario)
        throw replay.failure
            ?? ScenarioFailure(
                kind: .incompleteSearch,
                message: """
                    “\(scenario.name)” holds under the schedule of \(Self.replayVariable), and no other was tried: \
                    unset it to search
                    """,
                schedule: schedule,
                trace: replay.trace
            )
    }
}
