@available(Executors, *)
extension ScheduledRun {
    /// Runs a task of the scenario itself to its end, in one piece; `nil` if it does not end, which is a failure.
    func complete<Value: Sendable>(
        _ name: String,
        _ work: @escaping @Sendable () async throws -> Value
    ) throws -> Value? {
        let participant = state.withLock { state in
            state.recording?.isOn = false
            return state.participants.add(name)
        }
        let operation = ScenarioOperation<Value>(name: name, participant: participant)
        let task = startTask(of: participant) { await operation.perform(work) }
        let isOver = runInOrder(atMost: maximumSteps) { operation.result != nil }
        if let result = operation.result { return try result.get() }
        if !isOver {
            state.withLock { state in
                state.fail(
                    .livelock,
                    "\(name) is still going on after \(maximumSteps) steps; if it is to be so long, raise maximumSteps"
                )
            }
        } else if escapes.wait(for: patience), let escape = escapes.first {
            state.withLock { $0.fail(.escape, "\(name): \(escape)") }
        } else {
            state.withLock { $0.fail(.lostWaiter, "\(name) waits for ever") }
        }
        task.cancel()
        return nil
    }

    /// Checks the invariants at the end of a run that has not failed yet, and asks for its outcome.
    func check() throws {
        state.withLock { $0.phase = .checking }
        for invariant in script.withLock({ $0.invariants }) {
            guard state.withLock({ $0.failure == nil }) else { return }
            let name = "“\(invariant.name)”"
            do {
                if try complete("the check of \(name)", invariant.holds) == false {
                    state.withLock { $0.fail(.brokenInvariant, "\(name) does not hold") }
                }
            } catch {
                state.withLock { $0.fail(.brokenInvariant, "\(name) threw \(error)") }
            }
        }
        guard let describe = script.withLock({ $0.outcome }), state.withLock({ $0.failure == nil }) else { return }
        do {
            let outcome = try complete("the outcome", describe)
            state.withLock { $0.outcome = outcome }
        } catch {
            state.withLock { $0.fail(.brokenInvariant, "the outcome threw \(error)") }
        }
    }

    /// Lets tasks that are left come to their ends as far as they can, and gives everything back.
    ///
    /// What still waits then, waits for something outside of control, or for ever.
    func conclude(_ execution: Execution) {
        state.withLock { state in
            state.recording?.isOn = false
            state.isAbandoned = execution.isPruned || state.failure != nil
        }
        for cancelListener in script.withLock({ $0.listeners }) { cancelListener() }
        runInOrder(atMost: 1000) { false }
        releaseSubject()
        let tasks = state.withLock { $0.participants.takeReferences() }
        let leftOver = tasks.filter { !$0.reference.hasEnded }
        let listeners = state.withLock { $0.listeners }
        controlledExecutor.remember(leftOver.map(\.id), of: self)
        if !state.withLock({ $0.isAbandoned || $0.permitsUnfinishedTasks }) {
            judge(leavingBehind: leftOver.map(\.participant).filter { !listeners.contains($0) })
        }
        for task in tasks { TaskReference.release(task.reference.address) }
    }

    /// Gives the queues back, and lets go of what the schedule has left, and of the scenario.
    ///
    /// All of it goes behind the locks, since with it objects may go that call the run at their end.
    private func releaseSubject() {
        let candidates = state.withLock { state in
            state.phase = .over
            defer { state.candidates.removeAll() }
            return state.candidates
        }
        for queue in candidates.queues { queue.giveBack() }
        let script = script.withLock { script in
            defer { script = Script() }
            return script
        }
        withExtendedLifetime((candidates, script, releaseMainQueue())) {}
    }

    /// Fails a run that seems to have ended well if it has escaped, or if something of it goes on elsewhere.
    private func judge(leavingBehind participants: [Int]) {
        let unfinished = state.withLock { state in participants.map { state.participants.name(of: $0) } }
        if !unfinished.isEmpty, escapes.first == nil {
            // To say whom it is that they wait for, if that can be found out.
            _ = escapes.wait(for: patience)
        }
        if let escape = escapes.first {
            state.withLock { $0.fail(.escape, escape) }
        } else if !unfinished.isEmpty {
            state.withLock { state in
                state.fail(
                    .unfinishedTask,
                    """
                    the scenario has ended, and still waiting: \(unfinished.joined(separator: ", ")) (for something \
                    that the explorer does not control, or for ever)
                    """
                )
            }
        }
    }
}
