extension ScenarioRun {
    /// Shows a remark in the trace, at the present step.
    ///
    /// It is for the reader only and has no influence on the search; an invariant cannot see it. The text is
    /// not even made while nothing is being recorded.
    public func note(_ text: @autoclosure () -> String) {
        guard isControlling, board.withLock({ $0.isRecording }) else { return }
        let text = text()
        record(.note, text)
    }

    /// Marks that the present step has touched something that others can see without entering an actor.
    ///
    /// State behind a lock, a queue or an atomic is such a thing, and so is the outside world: a request that
    /// is sent, a value that is handed out. Marked steps are tried in every order; unmarked ones that enter no
    /// actor and make nobody ready are not. See ``Reductions``.
    public func effect(_ text: String) {
        guard isControlling else {
            reportEscape("the effect “\(text)” happened on another thread")
            return
        }
        board.withLock { board in
            board.isNoticed = true
            board.effects.append(text)
        }
        record(.effect, text)
    }

    /// The effects marked so far, in order: the history that an invariant can judge.
    public var effects: [String] {
        board.withLock(\.effects)
    }

    /// Suspends the current task until the schedule says to go on: a disk, a server, anything slow.
    ///
    /// `await run.pause("answer")` in a fake is all that a fake network needs. It does not react to
    /// cancellation.
    public nonisolated(nonsending) func pause(_ name: String) async {
        // Unchecked, since a run that has failed is left as it is, tasks that wait included.
        await unsafe withUnsafeContinuation { continuation in
            let wake = { @Sendable in unsafe continuation.resume() }
            if !add(.wake(wake), name) {
                wake()
            }
        }
    }

    private func record(_ kind: TraceEvent.Kind, _ text: String) {
        let participant = Self.participant
        board.withLock { $0.record(kind, by: $0.actor(telling: participant), text) }
    }
}
