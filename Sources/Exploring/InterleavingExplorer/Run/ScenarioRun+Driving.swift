extension ScenarioRun {
    /// Runs a scenario from its setup to its checks, one step at a time.
    func drive(_ scenario: Scenario, by chooser: inout any Chooser) -> Driver.Drive {
        ActiveRuns.with(self) { driveOnThisThread(scenario, by: &chooser) }
    }

    private func driveOnThisThread(_ scenario: Scenario, by chooser: inout any Chooser) -> Driver.Drive {
        var drive = Driver.Drive()
        do {
            try scenario.setUp(self)
            begin()
            let driver = Driver(self, by: chooser)
            self.driver.withLock { $0 = driver }
            chooser = driver.runToEnd()
            self.driver.withLock { $0 = nil }
            drive = driver.drive
            // Where nothing can run any more, nothing is left out.
            drive.hasEndedEarly = board.withLock { $0.failure.map { $0.kind != .lostWaiter } ?? false }
            if !drive.isPruned {
                try check()
            }
        } catch {
            board.withLock { $0.fail(.unexpectedError, "the setup threw \(error)") }
        }
        conclude(drive)
        return drive
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

    /// Decides what it means that nothing can run: the end, an escape, or a lost waiter.
    ///
    /// Returns whether to go on.
    func waitsForNothing() -> Bool {
        let waiting = board.withLock { $0.unfinished }
        guard !waiting.isEmpty else { return false }
        if surroundings.pulse.waiting({ escapes.wait(for: explorer.patience) }) {
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

    /// A preemption point: the step that runs may be held here while others go on.
    ///
    /// There is none where nothing of the step follows, inside of a marked stretch, and where the runtime holds a lock that
    /// others would have to wait for.
    func point() {
        guard explorer.preempts, ActiveRuns.onThisThread === self, let driver = driver.withLock({ $0 }) else { return }
        let isPoint = board.withLock { board in
            guard board.phase == .exploring, board.isStepping, !board.isDraining else { return false }
            let stretch = board.stretch
            guard stretch.undivided == 0, !stretch.isWake else { return false }
            if case .task = stretch.job?.kind {
                let task = TaskStatus.currentTask
                guard task != 0, TaskStatus(ofTaskAt: task) == .running else { return false }
            }
            return !board.isAnyTaskLocked
        }
        if isPoint { driver.point() }
    }
}
