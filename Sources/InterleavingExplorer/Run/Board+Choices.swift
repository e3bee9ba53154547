extension Board {
    /// How many things can happen now.
    var candidateCount: Int {
        // When all operations have ended, a timer that fires tells nobody anything.
        ready.count + (unfinished.isEmpty ? 0 : dueTimers.count)
    }

    /// Whether a step that has marked nothing cannot have touched what others can see either.
    func cannotTouchOthers(_ part: Candidate) -> Bool {
        // An actor's state; the line before an actor that has been asked for already; what has come to a
        // dispatch queue; and whether it is cancelled: a task may look at that anywhere.
        !part.entersActor && !ready.contains { $0.entersActor } && suspendedQueues.isEmpty
            && !canBeCancelled(part.participant)
    }

    /// Whether a cancellation is waiting that would reach this participant.
    private func canBeCancelled(_ participant: Int) -> Bool {
        ready.contains { candidate in
            guard case .cancellation(let target, _) = candidate.work else { return false }
            var descendant = participant
            while descendant > target {
                descendant = participants[descendant].parent
            }
            return descendant == target
        }
    }

    /// The keys of the first candidates, in the order in which they came; timers last.
    func keys(_ width: Int) -> [Candidate.Key] {
        var keys = ready.map { $0.key }
        for timer in dueTimers where keys.count < width {
            keys.append(timer.key)
        }
        return keys.count > width ? Array(keys.prefix(width)) : keys
    }

    /// Takes a candidate out, and begins the step in the trace.
    mutating func take(_ choice: Int, of width: Int, number: Int) -> Candidate {
        let candidate = choice < ready.count ? ready.remove(at: choice) : takeTimer(choice - ready.count)
        guard isRecording else { return candidate }
        let participant = candidate.participant
        let actor = candidate.entersActor ? nameOfActor(enteredBy: candidate) : nil
        let action =
            switch candidate.label {
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
            choice: choice,
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
