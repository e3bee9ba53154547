@available(Executors, *)
extension Exploration {
    enum End {
        /// Nothing is left to be tried, or the search may not or need not go on.
        case isFinal
        /// Something was found out: schedules were left out for a reason that does not hold here.
        case hasToBeginAnew
    }

    /// Tries schedules with no delay, then with one, and so on, until nothing is left to be tried.
    ///
    /// - Parameter takesShortcuts: whether what is likely to show a failure soon is to be tried first, and was not yet.
    mutating func deepen(atMost limit: Int, withShortcuts takesShortcuts: inout Bool) -> End {
        var frontier = Frontier()
        var branch: Frontier.Branch?
        var isCut = false
        repeat {
            guard report.runs < limit, !isOver else { return .isFinal }
            let before = knowledge
            if takesShortcuts, report.runs >= explorer.runsBeforeShortcuts {
                takesShortcuts = false
                drawMeanwhile(atMost: limit)
                if knowledge.steps.preempts, report.holds || !explorer.stopsAtFirstFailure {
                    searchWithoutInterruptions(atMost: (limit - report.runs) / 2)
                }
            } else {
                var chooser = chooser(for: branch)
                let execution = attempt(by: &chooser)
                isCut = isCut || execution.isTruncated || execution.isEndedInOrder || execution.hasMetLock
                if knowledge == before {
                    for node in nodesToContinue(after: execution, from: branch) { frontier.add(node) }
                    branch = frontier.next(atMost: explorer.maximumDelays ?? .max)
                }
            }
            if !report.holds, explorer.stopsAtFirstFailure { return .isFinal }
            if knowledge != before { return .hasToBeginAnew }
        } while branch != nil
        report.isComplete = !isCut
        return .isFinal
    }

    /// Tries the schedules under which every step runs to its end: far fewer, and most failures are among them.
    private mutating func searchWithoutInterruptions(atMost limit: Int) {
        var other = self
        other.report = ExplorationReport(of: report.scenario, by: explorer)
        other.report.preempts = false
        other.missed = []
        other.omissions = []
        other.knowledge.steps.preempts = false
        other.time.part = .withoutInterruptions
        other.time.runsBefore += report.runs
        other.searchInOrder(atMost: limit)
        adopt(other)
    }

    private mutating func drawMeanwhile(atMost limit: Int) {
        let runs = report.runs
        draw(min(explorer.randomSchedules, limit - runs), from: 0)
        let drawn = report.runs - runs
        report.remarks.append(
            """
            Not exhausted after \(runs) runs, so \(drawn) random schedule\(drawn == 1 ? "" : "s") came next (seed 0)\
            \(report.holds ? "; then the search went on" : ", which failed").
            """
        )
    }

    private func chooser(for branch: Frontier.Branch?) -> any Chooser {
        guard let branch else { return PrefixChooser(digits: []) }
        return PrefixChooser(
            digits: branch.node.digits(endingWith: branch.digit)[...],
            expected: branch.node.fingerprint,
            asleep: knowledge.reduces ? branch.node.asleep : []
        )
    }

    /// Notes what else a run calls for, and returns the choices at which that is to be tried.
    private func nodesToContinue(after execution: Execution, from branch: Frontier.Branch?) -> [SearchNode] {
        let choices = execution.choices
        var path = branch?.node.path ?? []
        // The choices of the branch's own prefix are known, and so are the races in there.
        let first = max(0, path.count - 1)
        if let branch {
            branch.node.end(branch.digit, choices.count > first ? choices[first].footprint : nil)
        }
        for choice in choices.dropFirst(path.count) {
            path.append(SearchNode(choice, below: path.last, by: choices[max(0, path.count - 1)].digit))
        }
        let reduces = knowledge.reduces
        // A run that ends early does not tell all its races. Where a task was cancelled already, another cancellation
        // of it does not show.
        let showsRaces = reduces && !execution.hasEndedEarly && !knowledge.watchesCancellation
        var nodes = Set(path.indices.dropFirst(first))
        for (index, choice) in choices.enumerated().dropFirst(first)
        where (!showsRaces || choice.hasTimers || choice.isOfValues) && !(reduces && choice.isLocal) {
            path[index].wantAll()
        }
        if showsRaces {
            let start = execution.events.firstIndex { $0.choice == first } ?? 0
            var races = Races(in: execution.events)
            for race in races.find(from: start)
            where !(reduces && choices[race.choice].isLocal) {
                path[race.choice].wantOne(of: race.initials)
                nodes.insert(race.choice)
            }
        }
        return nodes.sorted().map { path[$0] }
    }
}
