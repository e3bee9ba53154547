/// What an exploration has found.
public struct ExplorationReport: Sendable {
    /// The name of the scenario.
    public let scenario: String
    /// How schedules were chosen, with the seed if they were drawn.
    public let mode: SearchMode
    /// The number of schedules that were run.
    public internal(set) var schedules = 0
    /// The number of schedules that failed; at most one if the search ends with the first.
    public internal(set) var failures = 0
    /// Whether these were all: every schedule of the scenario, but for those that the reductions leave out.
    ///
    /// Of a bounded search it says that the bound left nothing out. Of dispatch queues that were taken over it counts the
    /// drains, which are not all that can come between two blocks; see ``ScenarioRun/control(_:_:)``.
    public internal(set) var isComplete = false
    /// The number of steps of the longest schedule.
    public internal(set) var longestSchedule = 0
    /// The first failure, which has the fewest departures of all unless schedules were drawn.
    public internal(set) var failure: ScenarioFailure?

    /// Whether no schedule failed.
    public var holds: Bool {
        failure == nil
    }

    /// Throws the first failure, if there is one.
    ///
    /// For a test that is to end with the schedule and the trace: `try await explorer.explore(scenario).verify()`.
    public func verify() throws(ScenarioFailure) {
        if let failure {
            throw failure
        }
    }
}

extension ExplorationReport: CustomStringConvertible {
    /// A line for the search, and the first failure with its trace.
    public var description: String {
        let all = isComplete ? "that is all of them" : "there are more"
        let searched = "\(schedules) schedule\(schedules == 1 ? "" : "s") (\(mode))"
        guard let failure else {
            return "\(scenario): holds under \(searched); \(all)"
        }
        return "\(scenario): \(failures) of \(searched) failed\n\(failure)"
    }
}
