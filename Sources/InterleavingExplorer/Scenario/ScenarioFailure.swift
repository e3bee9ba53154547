/// What went wrong in a scenario, and under which schedule.
public struct ScenarioFailure: Error, Sendable {
    /// What sort of failure it is.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in words.
        public let description: String

        /// An invariant does not hold, or threw.
        public static let brokenInvariant = Kind(description: "broken invariant")
        /// An operation, the setup or a preparation threw an error that it was not said to throw.
        public static let unexpectedError = Kind(description: "unexpected error")
        /// Nothing can run and the scenario has not ended: somebody waits who will never be woken.
        public static let lostWaiter = Kind(description: "lost waiter")
        /// The scenario has ended, and a task of it has not: something outside of control may wake it yet, or nothing.
        ///
        /// Where that is meant to be, say so: ``ScenarioRun/permitUnfinishedTasks()``.
        public static let unfinishedTask = Kind(description: "unfinished task")
        /// The scenario did not end within the permitted number of steps.
        public static let livelock = Kind(description: "livelock")
        /// The same choices led elsewhere: the scenario depends on something but its schedule.
        public static let divergedReplay = Kind(description: "diverged replay")
        /// A job ran or was asked for outside the explorer's control, so the schedules are not all.
        public static let escape = Kind(description: "escape from control")
    }

    /// What sort of failure it is.
    public let kind: Kind
    /// Which invariant, operation or job it is about.
    public let message: String
    /// What replays it: pass it to `Explorer.replay(_:of:)`.
    public let schedule: Schedule
    /// The steps that led to it, by name.
    public let trace: Trace
}

extension ScenarioFailure: CustomStringConvertible {
    /// The kind, the message, the schedule and the trace.
    public var description: String {
        let departures = schedule.departures
        return """
            \(kind): \(message)
            schedule \(schedule), \(departures) departure\(departures == 1 ? "" : "s") from \
            first-in-first-out order (marked with *)
            \(trace)
            """
    }
}
