/// What others could notice of a step.
enum Visibility: Sendable {
    /// It may have touched what others can see: its place among the other steps counts.
    case noticeable
    /// It has only made something ready. It may come first, as nothing else depends on its place.
    case preparatory
    /// It has done nothing to anybody. It may come first or last.
    case silent
}

extension ScenarioRun {
    /// Runs a scenario from its setup to its checks, one step at a time.
    func drive(_ scenario: Scenario, by chooser: inout some Chooser) -> Drive {
        ActiveRuns.with(self) { driveOnThisThread(scenario, by: &chooser) }
    }

    private func driveOnThisThread(_ scenario: Scenario, by chooser: inout some Chooser) -> Drive {
        var drive = Drive()
        do {
            try scenario.setUp(self)
            begin()
            explore(by: &chooser, &drive)
            if !drive.isPruned {
                try check()
            }
        } catch {
            board.withLock { $0.fail(.unexpectedError, "the setup threw \(error)") }
        }
        conclude(drive)
        return drive
    }

    /// What a run was like, as far as the search must know.
    struct Drive {
        var frames: [Frame] = []
        var steps = 0
        /// Whether there were more candidates at some moment than a digit can tell apart.
        var isTruncated = false
        /// Whether the run was given up because it can show nothing new.
        var isPruned = false
        var fingerprint: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func mix(_ value: Int) {
            fingerprint = (fingerprint ^ UInt64(truncatingIfNeeded: value)) &* 0x0000_0100_0000_01b3
        }
    }

    private func begin() {
        let beginnings = script.withLock { script in
            defer { script.beginnings = [] }
            return script.beginnings
        }
        board.withLock { board in
            board.phase = .exploring
            board.isRecording = board.steps != nil
        }
        for beginning in beginnings {
            beginning()
        }
        board.withLock { _ = $0.offerDrains() }
    }

    private func explore(by chooser: inout some Chooser, _ drive: inout Drive) {
        let permanent = script.withLock(\.permanent)
        var drains = 0
        while let count = board.withLock({ $0.failure == nil ? $0.candidateCount : nil }) {
            if let escape = escapes.first {
                board.withLock { $0.fail(.escape, escape) }
                return
            }
            if count == 0 {
                if drains < SuspendedQueue.longestChain, board.withLock({ $0.offerDrains() }) {
                    drains += 1
                    continue
                }
                guard waitsForNothing() else { return }
                continue
            }
            drive.steps += 1
            guard drive.steps <= explorer.maximumSteps else {
                board.withLock { $0.fail(.livelock, "still going on after \(explorer.maximumSteps) steps") }
                return
            }
            let width = min(count, Schedule.radix)
            drive.isTruncated = drive.isTruncated || count > width
            drive.mix(width)
            let keys = board.withLock { $0.keys(width) }
            let choice: Int
            switch chooser.choose(among: keys, fingerprint: drive.fingerprint) {
            case .take(let position):
                choice = position
            case .diverge:
                let message = "the choices do not fit at step \(drive.steps)"
                board.withLock { $0.fail(.divergedReplay, message) }
                return
            case .prune:
                drive.isPruned = true
                return
            }
            if width > 1 {
                drive.frames.append(
                    Frame(
                        digit: UInt8(choice),
                        arrivals: keys.map { $0.arrival },
                        asleep: chooser.asleep,
                        fingerprint: drive.fingerprint
                    )
                )
            }
            let candidate = board.withLock { $0.take(choice, of: count, number: drive.steps) }
            drive.mix(candidate.participant)
            let visibility = run(candidate)
            chooser.stepEnded(visibility)
            if width > 1 {
                drive.frames[drive.frames.count - 1].visibility = visibility
            }
            board.withLock { board in
                // Nobody can tell whether blocks are left. After a drain that did nothing it takes another step.
                if case .drain = candidate.work, !board.isEventful {
                    return
                }
                drains = 0
                board.offerDrains()
            }
            for condition in permanent where !condition.holds() {
                board.withLock { $0.fail(.brokenInvariant, "“\(condition.name)” does not hold") }
            }
        }
    }

    /// Decides what it means that nothing can run: the end, an escape, or a lost waiter.
    ///
    /// Returns whether to go on.
    private func waitsForNothing() -> Bool {
        let waiting = board.withLock(\.unfinished)
        guard !waiting.isEmpty else { return false }
        if escapes.wait(for: explorer.patience) {
            return true
        }
        board.withLock { board in
            board.fail(
                .lostWaiter,
                """
                nothing can run, and still waiting: \(waiting.joined(separator: ", ")) \
                (or waiting for something that the explorer does not control, such as the main actor)
                """
            )
        }
        return false
    }
}
