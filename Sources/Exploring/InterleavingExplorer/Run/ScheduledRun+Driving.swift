@available(Executors, *)
extension ScheduledRun {
    /// Runs a scenario from its setup to its checks, one step at a time.
    func execute(_ scenario: Scenario, by chooser: inout any Chooser) -> Execution {
        ActiveRuns.with(self) {
            var execution = Execution()
            let scheduler = Scheduler(self, by: chooser)
            self.scheduler.withLock { $0 = scheduler }
            defer { self.scheduler.withLock { $0 = nil } }
            do {
                try scenario.setUp(self)
                begin()
                chooser = scheduler.runToEnd()
                execution = scheduler.execution
                // Where nothing can run any more, nothing is left out.
                execution.hasEndedEarly = state.withLock { $0.failure.map { $0.kind != .lostWaiter } ?? false }
                if !execution.isPruned { try check() }
            } catch {
                state.withLock { $0.fail(.unexpectedError, "the setup threw \(error)") }
            }
            conclude(execution)
            return execution
        }
    }

    private func begin() {
        let beginnings = script.withLock { script in
            defer { script.beginnings = [] }
            return script.beginnings
        }
        state.withLock { state in
            state.phase = .exploring
            state.recording?.isOn = true
        }
        for beginning in beginnings {
            beginning()
        }
        state.withLock { $0.candidates.offerDrains() }
    }

    /// Waits where nothing can run, and returns whether something has come from outside; if not, a waiter is lost.
    func waitForArrivalFromOutside() -> Bool {
        let waiting = state.withLock { state in state.unfinished.map { state.participants.name(of: $0) } }
        guard !waiting.isEmpty else { return false }
        if surroundings.progress.waiting({ escapes.wait(for: patience) }) {
            return true
        }
        state.withLock { state in
            state.fail(
                .lostWaiter,
                """
                nothing can run, and still waiting: \(waiting.joined(separator: ", ")) \
                (or waiting for something that the explorer does not control, such as a thread or a timer; an operation \
                that listens for as long as it lives says listens: true)
                """
            )
        }
        return false
    }

    /// A preemption point: the step that runs may be held here while others go on.
    ///
    /// There is none where nothing of the step follows, inside of a marked segment, and where the runtime holds a lock
    /// that others would have to wait for.
    func preemptionPoint() {
        guard ActiveRuns.onThisThread === self, let scheduler = scheduler.withLock({ $0 }) else { return }
        let isPoint = state.withLock { state in
            guard state.phase == .exploring, state.candidates.isInStep, !state.isDraining else { return false }
            let segment = state.segment
            guard segment.openMarks == 0, !segment.isWake else { return false }
            if case .task = segment.job?.kind {
                let task = TaskStatus.currentTask
                guard task != 0, TaskStatus(ofTaskAt: task) == .running else { return false }
            }
            return !state.participants.isAnyTaskLocked
        }
        if isPoint { scheduler.preemptionPoint() }
    }
}
