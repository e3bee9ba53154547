/// What an exploration has found.
@available(Executors, *)
public struct ExplorationReport: Sendable, CustomStringConvertible {
    /// The name of the scenario.
    public let scenario: String
    /// How schedules were chosen, with the seed if they were drawn.
    public let mode: SearchMode
    /// Whether steps were held in their middle, see ``Explorer/preempts``.
    var preempts: Bool
    /// Up to how many delays there was a search, see ``Explorer/maximumDelays``.
    let maximumDelays: Int?
    /// The number of schedules that were run; those of ``withoutInterruptions`` are not among them.
    public internal(set) var schedules = 0
    /// The number of runs that were given up, since another order of independent steps had been tried before.
    public internal(set) var redundantRuns = 0
    /// How many schedules without interruptions were run before the search of a big scenario went on, and whether that
    /// was all.
    ///
    /// No step is held in its middle there. It is `nil` if the search was short, or is of another mode.
    public internal(set) var withoutInterruptions: (schedules: Int, isComplete: Bool)?
    /// Whether the search has ended since it had taken as long as it may.
    var isCutByTime = false
    /// Whether a limit other than that of runs and of time has left something out.
    var hasUntriedChoices = false
    /// The number of schedules without interruptions, with the redundant runs.
    var runsWithoutInterruptions = 0
    /// The number of schedules that failed; at most one if the search ends with the first.
    public internal(set) var failures = 0
    /// Whether these were all, in this build configuration and under the explorer's model: one schedule for each set of
    /// orders that cannot differ.
    ///
    /// What the model leaves out is listed in <doc:Soundness>. Of dispatch queues that were taken over it counts the
    /// drains, which are not all that can come between two blocks; see ``ScheduledRun/control(_:_:)``.
    public internal(set) var isComplete = false
    /// What else is to be said of the search, a sentence each: how it went on where the scenario is big, and what could
    /// not be done on this toolchain or in this process.
    public internal(set) var remarks: [String] = []
    /// Why the search is not complete although it was not cut, and what to do about it.
    public internal(set) var omissions: [Omission] = []
    /// What was left out as the scenario permits it, see ``ScheduledRun/permit(_:)``.
    public internal(set) var permittedOmissions: [Omission] = []
    /// What operations seem to share that the explorer has not seen, and what to do about it.
    ///
    /// It is set if an operation has touched nothing that others touch, or if an operation has found the continuation
    /// of a waiter in a place that the explorer does not see. Say ``ScheduledRun/permitNothingShared()`` if that is
    /// meant to be.
    public internal(set) var unmarked: String?
    /// What runs that hold have come to, each with the first schedule that leads there, see
    /// ``ScheduledRun/outcome(_:)``.
    ///
    /// If the search is complete, these are all.
    public internal(set) var outcomes: [String: Schedule] = [:]
    /// The number of steps of the longest schedule.
    public internal(set) var longestSchedule = 0
    /// The first failure, which has the fewest delays of all unless schedules were drawn.
    public internal(set) var failure: ScenarioFailure?

    init(of scenario: String, by explorer: Explorer) {
        self.scenario = scenario
        mode = explorer.mode
        preempts = explorer.preempts
        maximumDelays = explorer.maximumDelays
    }

    var runs: Int { schedules + redundantRuns + runsWithoutInterruptions }

    /// Whether no schedule failed.
    public var holds: Bool { failure == nil }

    /// Throws the first failure, if there is one, or if there are schedules that were not tried, or if nothing was
    /// tested.
    ///
    /// For a test that is to end with the schedule and the trace: `try await explorer.explore(scenario).verify()`. A
    /// search that is random, or was cut, proves nothing of the rest, and one that saw nothing shared proves nothing;
    /// where that is enough, say `allowIncomplete: true`. A scenario in which nothing happens never passes.
    public func verify(allowIncomplete: Bool = false) throws(ScenarioFailure) {
        if let failure {
            throw failure
        }
        if longestSchedule == 0 {
            throw incomplete(
                """
                “\(scenario)” tests nothing: its setup adds no operation and no step; add run.operation("name") { … }
                """
            )
        }
        if allowIncomplete { return }
        if let unmarked {
            throw incomplete(
                "“\(scenario)” holds under \(schedules) schedules. \(unmarked) To pass it all the same, \(Self.allowance)"
            )
        }
        guard isComplete else {
            let limit = isCutByTime ? "maximumDuration" : "maximumSchedules"
            var advice = omissions.map { "\($0), or say \($0.permission) in the setup" }.joined(separator: "; ")
            if case .random = mode.order {
                // However many it draws, it never knows that these were all.
                advice = "search in the mode automatic"
            } else if omissions.isEmpty {
                // More runs do not bring in what no run may choose.
                let more = hasUntriedChoices && !isCutByTime ? "" : ", raise \(limit)"
                advice = "make the scenario smaller\(more)"
            }
            if withoutInterruptions?.isComplete == true {
                advice += ", set preempts = false to leave interruptions out"
            }
            let without = underThoseWithoutInterruptions.map { ", and without interruptions \($0)" } ?? ""
            let searched = "\(schedules) schedules (\(mode))\(without)"
            throw incomplete(
                "“\(scenario)” holds under \(searched), but there are more: \(advice), or \(Self.allowance)"
            )
        }
    }

    private static let allowance = "say verify(allowIncomplete: true)"

    private func incomplete(_ message: String) -> ScenarioFailure {
        ScenarioFailure(
            kind: .incompleteSearch,
            message: message,
            schedule: Schedule(digits: []),
            trace: Trace(steps: [])
        )
    }

    /// A line for the search, a line for each remark, and the first failure with its trace.
    public var description: String {
        let parts = [
            underThoseWithoutInterruptions.map { "Without interruptions it holds \($0) schedules." },
            unmarked,
        ]
        let remarks =
            self.remarks + parts.compactMap(\.self) + omissions.map { "There are more, since \($0)." }
            + permittedOmissions.map { "Permitted: there are more, since \($0)." }
        return ([verdict] + remarks.map { "  \($0)" }).joined(separator: "\n")
    }

    /// The first failure as a diagram, see ``Trace/diagram``; `nil` if all holds.
    public var diagram: String? { failure?.diagram }

    private var underThoseWithoutInterruptions: String? {
        guard let (schedules, isComplete) = withoutInterruptions, holds, !self.isComplete else { return nil }
        return "under \(isComplete ? "all" : "the first") \(schedules)"
    }

    private var verdict: String {
        let delays = maximumDelays.map { " with up to \($0) delay\($0 == 1 ? "" : "s")" } ?? ""
        let kind = (preempts ? "" : " without interruptions") + delays
        let exception = permittedOmissions.isEmpty ? "" : " but for what the scenario permits"
        let all = isComplete ? "that is all of them\(kind)\(exception)" : "there are more"
        let tried = schedules + (holds ? 0 : withoutInterruptions?.schedules ?? 0)
        let searched = "\(tried) schedule\(tried == 1 ? "" : "s") (\(mode))"
        guard let failure else {
            return "\(scenario): holds under \(searched); \(all)"
        }
        return "\(scenario): \(failures) of \(searched) failed\n\(failure)"
    }
}
