import Synchronization

/// How a step is held in its middle, and let go where it has a lock that others need.
extension Driver {
    /// Holds the running step while others go on.
    ///
    /// - Returns: Whether the step was let go, and not told to go on.
    func hold(_ goesOn: Candidate.Key, for candidate: Candidate) -> Bool {
        let thread = state.withLock { $0.running }
        run.board.withLock { board in
            let held = Candidate(
                work: .rest(HeldStep(thread: thread, stretch: board.stretch)),
                participant: board.stretch.participant,
                label: .text("goes on"),
                key: goesOn
            )
            board.ready.insert(held, at: 0)
            board.isStepping = false
        }
        if case .rest(let other) = candidate.work {
            resume(other)
        } else {
            threads.run(candidate, for: self)
        }
        // Who sleeps waits for this step, or for the machine. A schedule that is shown again met no lock before.
        let patience = run.board.withLock { $0.isRecording } ? 200 : 20
        var last = (beats: -1, looks: 0, looksAsleep: 0)
        return thread.waitForOrder {
            let beats = pulse.beats.load(ordering: .relaxed)
            guard beats == last.beats, !pulse.isWaiting.load(ordering: .sequentiallyConsistent) else {
                last = (beats, 0, 0)
                return false
            }
            let isAsleep = state.withLock { $0.running }.isAsleep
            last = (beats, last.looks + 1, isAsleep ? last.looksAsleep + 1 : 0)
            // Who is busy may wait as well, and spin.
            return (last.looksAsleep >= patience || last.looks >= 10 * patience) && letGo(thread)
        }
    }

    /// Lets a step go that the running thread seems to wait for, since the step holds a lock; the schedule is given up.
    private func letGo(_ thread: StepThread) -> Bool {
        let isLast = run.board.withLock { board in
            guard let first = board.firstHeld, first.thread === thread else { return false }
            return board.takeHeld() != nil
        }
        guard isLast else { return false }
        state.withLock { state in
            state.strays += state.hasCollided ? 1 : 2
            state.hasCollided = true
        }
        run.board.withLock { $0.isAbandoned = true }
        return true
    }

    /// Comes back from a step of a schedule that was given up; the last one to do so ends the run.
    func arrive(_ thread: StepThread) {
        let strays = state.withLock { state in
            state.strays -= 1
            return state.strays
        }
        guard strays > 0 else {
            if let held = run.board.withLock({ $0.takeHeld() }) {
                state.withLock { $0.strays = 1 }
                if thread !== main { threads.add(thread) }
                resume(held)
                if thread === main { _ = thread.waitForOrder() }
                return
            }
            if thread !== main {
                threads.add(thread)
                willRun(on: main)
                main.hand(.goOn)
            }
            return
        }
        if thread === main {
            _ = thread.waitForOrder()
        } else {
            threads.add(thread)
        }
    }
}
