extension Exploration {
    /// Tries schedules with no delay, then with one, and so on, until nothing is left to be tried.
    ///
    /// - Parameter maximum: how many runs there are at most.
    mutating func deepen(to bound: Int, maximum: Int) {
        var frontier = Frontier()
        var branch: Frontier.Branch?
        var isCut = false
        repeat {
            guard report.schedules + report.redundantRuns < maximum, !isAbandoned else { return }
            var chooser = chooser(for: branch, isBounded: bound != .max)
            let knownPlaces = surroundings.places.knowledge
            let drive = attempt(by: &chooser)
            isCut = isCut || drive.isTruncated || drive.hasCollided
            if report.failure != nil, explorer.stopsAtFirstFailure {
                return
            }
            let isToEnterLater = drive.isToEnterActorsLater && entersActorsLater()
            let isToWatch = drive.hasSubjectCancelled && !watchesCancellation
            if isToEnterLater || isToWatch || surroundings.places.knowledge != knownPlaces {
                watchesCancellation = watchesCancellation || drive.hasSubjectCancelled
                return deepenAnew(to: bound, maximum: maximum)
            }
            for node in nodesToContinue(after: drive, from: branch, isBounded: bound != .max)
            where frontier.add(node, atMost: bound) {
                isCut = true
            }
            branch = frontier.next()
        } while branch != nil
        report.isComplete = !isCut
    }

    /// Begins anew, since what was left out so far was left out for a reason that does not hold here.
    mutating func deepenAnew(to bound: Int, maximum: Int) {
        report.schedules = 0
        report.redundantRuns = 0
        report.failures = 0
        report.failure = nil
        report.isComplete = false
        missed = []
        isCutByLock = false
        deepen(to: bound, maximum: maximum)
    }

    private func chooser(for branch: Frontier.Branch?, isBounded: Bool) -> any Chooser {
        guard let branch else { return PrefixChooser(digits: []) }
        // With a bound, what is asleep might have been tried with more delays than it needs.
        let sleeps = explorer.reductions.contains(.sleepSets) && !isBounded
        return PrefixChooser(
            digits: branch.node.digits(endingWith: branch.digit),
            expected: branch.node.fingerprint,
            asleep: sleeps ? branch.node.asleep : [],
            racing: explorer.reductions.contains(.sourceSets)
        )
    }

    /// Notes what else a run calls for, and returns the choices at which that is to be tried.
    private func nodesToContinue(
        after drive: Driver.Drive,
        from branch: Frontier.Branch?,
        isBounded: Bool
    ) -> [SearchNode] {
        var path = branch?.node.path ?? []
        // The choices of the branch's own prefix are known, and so are the races in there.
        let first = max(0, path.count - 1)
        if let branch {
            branch.node.end(branch.digit, drive.frames.count > first ? drive.frames[first].footprint : nil)
        }
        for frame in drive.frames.dropFirst(path.count) {
            path.append(SearchNode(frame, below: path.last, by: drive.frames[max(0, path.count - 1)].digit))
        }
        let reduces = explorer.reductions.contains(.sleepSets)
        let showsRaces = explorer.reductions.contains(.sourceSets) && !isBounded && showsItsRaces(drive)
        var nodes = Set(path.indices.dropFirst(first))
        for (index, frame) in drive.frames.enumerated().dropFirst(first)
        where (!showsRaces || frame.hasTimers) && !(reduces && frame.isLocal) {
            path[index].wantAll()
        }
        if showsRaces {
            let start = drive.events.firstIndex { $0.frame == first } ?? 0
            for race in Races.find(in: drive.events, from: start)
            where !(reduces && drive.frames[race.frame].isLocal) {
                path[race.frame].wantOne(of: race.initials)
                nodes.insert(race.frame)
            }
        }
        return nodes.sorted().map { path[$0] }
    }

    /// Whether a run tells all the races that it has.
    ///
    /// A run that ends early does not. And where a task was cancelled already, nothing tells that somebody else cancels it.
    private func showsItsRaces(_ drive: Driver.Drive) -> Bool {
        !drive.hasEndedEarly && !watchesCancellation
    }
}
