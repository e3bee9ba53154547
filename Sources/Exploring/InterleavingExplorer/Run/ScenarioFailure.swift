/// What went wrong in a scenario, and under which schedule.
@available(Executors, *)
public struct ScenarioFailure: Error, Sendable, CustomStringConvertible {
    /// What sort of failure it is.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in words.
        public let description: String

        /// An invariant does not hold, or threw.
        public static let brokenInvariant = Kind(description: "broken invariant")
        /// An operation, the setup or a preparation threw an error that it was not said to throw.
        public static let unexpectedError = Kind(description: "unexpected error")
        /// Nothing can run and the scenario has not ended: a task waits that will never be woken.
        ///
        /// An operation that listens for as long as it lives is none if the setup says so, with `listens: true`.
        public static let lostWaiter = Kind(description: "lost waiter")
        /// The scenario has ended, and a task of it has not: something outside of control may wake it yet, or nothing.
        ///
        /// Where that is meant to be, say so: ``ScheduledRun/permitUnfinishedTasks()``.
        public static let unfinishedTask = Kind(description: "unfinished task")
        /// The scenario, its preparation or a check took too many steps, or a step passed as many preemption points
        /// while nothing else could run: ``Explorer/maximumSteps`` says how many.
        public static let livelock = Kind(description: "livelock")
        /// A step has not ended for a long time: it loops without suspending, or waits for a lock or a thread.
        public static let stuckStep = Kind(description: "stuck step")
        /// No schedule failed, but not all were tried.
        public static let incompleteSearch = Kind(description: "incomplete search")
        /// The same schedule did something else when it was run again, though it had the same choices: a step depends
        /// on chance, on the time, on another thread, or on the order in a set.
        public static let unrepeatable = Kind(description: "unrepeatable run")
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

    /// The kind, the message, the schedule and the trace.
    public var description: String {
        if trace.steps.isEmpty {
            return kind == .incompleteSearch ? "\(kind): \(message)" : "\(kind): \(message)\nschedule \(schedule)"
        }
        let delays = schedule.delays
        let advice = trace.advice.map { "\n\($0)" } ?? ""
        return """
            \(kind): \(message)
            schedule \(schedule), \(delays) delay\(delays == 1 ? "" : "s") (steps out of first-in-first-out order, \
            marked with *)
            \(trace)\(advice)
            """
    }
}
