/// When a search begins anew, and what it forgets then.
///
/// A search leaves schedules out for reasons that it takes from what it knows. Where it has found out more, it may have
/// left out schedules for a reason that does not hold here.
@available(Executors, *)
extension Exploration {
    /// Searches from few delays to many, until a whole search has found out nothing more.
    ///
    /// - Parameter takesShortcuts: whether a search that takes long tries first what is likely to show a failure soon.
    mutating func searchInOrder(atMost limit: Int, withShortcuts takesShortcuts: Bool = false) {
        var takesShortcuts = takesShortcuts
        while deepen(atMost: limit, withShortcuts: &takesShortcuts) == .hasToBeginAnew { beginAnew() }
    }

    /// Searches once more, if that is all that a complete search has to do about a task that began out of sight: others
    /// come to be in line before it.
    mutating func letOthersBeInLine() {
        guard report.holds, report.isComplete, !time.isOver, !knowledge.steps.entersActorsLater else { return }
        knowledge.steps.entersActorsLater = true
        beginAnew()
        searchInOrder(atMost: explorer.maximumSchedules)
        omissions.insert(.hiddenStarts)
    }

    private mutating func beginAnew() {
        time.runsBefore += report.runs
        report.forgetRuns()
        missed = []
        omissions = []
    }
}

@available(Executors, *)
extension Knowledge {
    mutating func learn(from execution: Execution) {
        let findings = execution.findings
        // Where code in an actor asks for another one, the request itself can be too early or too late. Where the
        // subject cancels tasks, a task may be cancelled between a look and its request.
        if findings.asksInsideActors || findings.hasSubjectCancelled { steps.entersActorsLater = true }
        if findings.hasSubjectCancelled { watchesCancellation = true }
        if findings.setsTimerTooLate { watchesLastEnd = true }
        lockSites.formUnion(execution.lockSites)
    }
}

@available(Executors, *)
extension ExplorationReport {
    /// Forgets what the runs so far have come to, but not what was found out besides.
    fileprivate mutating func forgetRuns() {
        (schedules, redundantRuns, runsWithoutInterruptions) = (0, 0, 0)
        (failures, failure, isComplete, longestSchedule) = (0, nil, false, 0)
    }
}
