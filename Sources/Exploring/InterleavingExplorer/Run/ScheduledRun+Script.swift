@available(Executors, *)
extension ScheduledRun {
    /// Adds an operation, which runs concurrently with the others.
    ///
    /// **Failure.** An error that it throws is a failure of the schedule, unless `mayThrow` says that the
    /// invariants will judge it, or the scenario has cancelled the operation.
    ///
    /// An actor serves those who wait for it by their priorities, and asks no one how long they have waited. With
    /// operations of one priority the search is about callers of one priority.
    ///
    /// With `listens` it may listen for as long as it lives, as a loop over an `AsyncStream` does. The scenario ends
    /// without it then, and the run cancels it behind the checks.
    @discardableResult
    public func operation<Value: Sendable>(
        _ name: String,
        priority: TaskPriority? = nil,
        mayThrow: Bool = false,
        listens: Bool = false,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> ScenarioOperation<Value> {
        var priority = priority
        if priority == nil, state.withLock({ $0.variesPriorities }) {
            priority = choose("the priority of \(name)", from: [.medium, .high])
        }
        let participant = state.withLock { state in
            let participant = state.participants.add(name, isOperation: true)
            if listens { state.listeners.append(participant) } else { state.unfinished.append(participant) }
            return participant
        }
        let operation = ScenarioOperation<Value>(name: name, participant: participant)
        let taskPriority = priority
        if listens { script.withLock { $0.listeners.append { operation.cancel() } } }
        begin {
            let task = self.startTask(of: participant, priority: taskPriority) {
                await operation.perform(body)
                if let value = operation.value as? any LosslessStringConvertible {
                    self.state.withLock { $0.results.append("\(name) returned \(value)") }
                }
                if let error = operation.error, !mayThrow, !(Task.isCancelled && error is CancellationError) {
                    self.state.withLock { state in
                        // The run has cancelled a listener behind the checks: whatever it throws then is no failure.
                        if listens, state.phase != .exploring { return }
                        state.fail(
                            .unexpectedError,
                            """
                            \(name) threw \(error); if it may, say so with run.operation("\(name)", mayThrow: true), and \
                            let an invariant judge the operation
                            """
                        )
                    }
                }
                self.finish(participant)
            }
            operation.begin(task)
        }
        return operation
    }

    /// Adds a step of the scenario itself, such as a loader's answer or a sign-out.
    ///
    /// It runs once, at any moment from now on that the schedule says. Called in the setup, the step is ready
    /// from the beginning; called by a fake inside the subject, from that moment.
    public func step(_ name: String, _ action: @escaping @Sendable () -> Void) {
        begin {
            self.add(.closure(Action(action)), name)
        }
    }

    /// Adds a step that cancels an operation, at any moment from now on, also before it has begun.
    ///
    /// To be called in the setup: that a task can be cancelled is noticeable to it from the beginning.
    public func step<Value>(cancelling operation: ScenarioOperation<Value>) {
        begin {
            self.add(
                .cancellation(of: operation.participant, Action { operation.cancel() }),
                "cancels \(operation.name)"
            )
        }
    }

    /// Does asynchronous work at once and in one piece, before the operations begin.
    ///
    /// For what a subject needs first, such as a signed-in session. To be called in the setup.
    public func prepare(_ work: @escaping @Sendable () async throws -> Void) throws {
        _ = try complete("the preparation", work)
    }

    /// Says that tasks of the subject may still wait when the scenario has ended.
    ///
    /// For a server that never answers, or a subject with a task that listens for as long as it lives. Without
    /// this such a task fails the run, since what it waits for may be something outside of control. To be called in
    /// the setup.
    public func permitUnfinishedTasks() {
        state.withLock { $0.permitsUnfinishedTasks = true }
    }

    /// Says that operations need not touch anything in common.
    ///
    /// Without this, a search that has seen nothing in common does not pass
    /// ``ExplorationReport/verify(allowIncomplete:)``: state behind a lock, an atomic or an `AsyncStream` is not seen
    /// until ``effect(_:_:)`` marks it. To be called in the setup.
    public func permitNothingShared() {
        state.withLock { $0.permitsNothingShared = true }
    }

    /// Says that a search may leave out these orders, and passes all the same.
    ///
    /// The report still says that there are more. To be called in the setup.
    public func permit(_ omission: Omission) {
        state.withLock { _ = $0.permits.insert(omission) }
    }

    /// Adds a condition that must hold when the scenario has ended.
    ///
    /// It may await: the scenario has ended then, and the hops of the check are no choices. An error that it
    /// throws breaks it, and is shown.
    public func invariant(_ name: String, _ holds: @escaping @Sendable () async throws -> Bool) {
        script.withLock { $0.invariants.append((name, holds)) }
    }

    /// Says in words what the run has come to: the report has each outcome once, with a schedule that leads to it.
    ///
    /// To see what a subject can do at all, or to compare it with another one: ``ExplorationReport/outcomes``. It runs
    /// behind the invariants of a run that holds. An error that it throws breaks the run as an invariant would.
    public func outcome(_ describe: @escaping @Sendable () async throws -> String) {
        script.withLock { $0.outcome = describe }
    }

    /// Adds a condition that must hold after every step.
    public func always(_ name: String, _ holds: @escaping @Sendable () -> Bool) {
        script.withLock { $0.permanent.append((name, holds)) }
    }

    /// Starts a task under control whose steps have the name of this participant.
    func startTask(
        of participant: Int,
        priority: TaskPriority? = nil,
        _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        state.withLock { $0.participants.nextOwner = participant }
        defer { state.withLock { $0.participants.nextOwner = nil } }
        return Task(executorPreference: controlledExecutor, priority: priority) { await body() }
    }

    /// Adds something that can run from now on, if it is asked for under control; returns whether.
    @discardableResult
    func add(_ work: Candidate.Work, _ label: String, of participant: Int = Participants.scenario) -> Bool {
        guard isControlling else {
            reportEscape("“\(label)” was asked for by another thread")
            return false
        }
        state.withLock { $0.candidates.add(work, of: participant, as: label) }
        return true
    }

    private func finish(_ participant: Int) {
        state.withLock { state in
            state.unfinished.removeAll { $0 == participant }
            // Timers fire no more when all operations have ended, so this end is worth a choice.
            if state.unfinished.isEmpty, state.candidates.hasTimers || knowledge.watchesLastEnd {
                state.touchMarks(isTime: true)
            }
            state.record(.ends, by: participant)
        }
    }

    private func begin(_ beginning: @escaping @Sendable () -> Void) {
        if state.withLock({ $0.phase == .preparing }) {
            script.withLock { $0.beginnings.append(beginning) }
        } else {
            beginning()
        }
    }
}
