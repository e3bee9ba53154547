extension Board {
    /// How many things can happen now.
    var candidateCount: Int {
        // When all operations have ended, a timer that fires tells nobody anything.
        ready.count + (unfinished.isEmpty ? 0 : dueTimers.count)
    }

    /// Whether a timer is among what can happen now, or a dispatch queue that may have got blocks.
    var hasTimersToFire: Bool {
        !suspendedQueues.isEmpty || !unfinished.isEmpty && !timers.isEmpty
    }

    /// The keys of the first candidates, in the order in which they came; timers last.
    func keys(_ width: Int) -> [Candidate.Key] {
        var keys = ready.map { $0.key }
        for timer in dueTimers where keys.count < width {
            keys.append(timer.key)
        }
        return keys.count > width ? Array(keys.prefix(width)) : keys
    }

    /// Whether the candidate at this position is still the one with this key.
    func hasCandidate(_ key: Candidate.Key, at position: Int) -> Bool {
        guard position < candidateCount else { return false }
        let found = position < ready.count ? ready[position].key : dueTimers[position - ready.count].key
        return found.arrival == key.arrival
    }

    /// Takes a candidate out, and begins the step in the trace.
    ///
    /// - Parameter isAhead: whether it is taken although something else has waited longer.
    mutating func take(_ choice: Int, of width: Int, isAhead: Bool, number: Int) -> Candidate {
        let candidate = choice < ready.count ? ready.remove(at: choice) : takeTimer(choice - ready.count)
        guard isRecording else { return candidate }
        let participant = candidate.participant
        let actor = candidate.entersActor ? nameOfActor(enteredBy: candidate) : nil
        let action =
            switch candidate.label {
            case _ where candidate.isRest: "goes on"
            case .text(let text): text
            case .job where actor != nil: "\(actor ?? "") runs"
            case .job: participants[participant].hasRun ? "continues" : "starts"
            }
        participants[participant].hasRun = true
        let step = TraceStep(
            number: number,
            participant: name(of: participant),
            action: action,
            actor: actor,
            choice: isAhead ? max(choice, 1) : choice,
            width: width,
            time: now,
            events: []
        )
        steps?.append(step)
        return candidate
    }

    /// The candidate that fires one of the timers that are due next.
    func takeTimer(_ position: Int) -> Candidate {
        let timer = dueTimers[position]
        return Candidate(
            work: .timer(timer.number),
            participant: Board.clock,
            label: .text(timer.label),
            key: timer.key
        )
    }

    /// The step that was held last.
    var firstHeld: HeldStep? {
        for candidate in ready {
            if case .rest(let held) = candidate.work { return held }
        }
        return nil
    }

    /// Takes out the step that was held last.
    mutating func takeHeld() -> HeldStep? {
        for (index, candidate) in ready.enumerated() {
            guard case .rest(let held) = candidate.work else { continue }
            ready.remove(at: index)
            return held
        }
        return nil
    }

    /// Makes each suspended queue a candidate that is not one already, and returns whether there is any.
    @discardableResult
    mutating func offerDrains() -> Bool {
        for queue in suspendedQueues {
            let isOffered = ready.contains { candidate in
                guard case .drain(let offered) = candidate.work else { return false }
                return offered === queue
            }
            if !isOffered {
                add(.drain(queue), of: queue.participant, as: .text("drains"))
            }
        }
        return !suspendedQueues.isEmpty
    }
}
