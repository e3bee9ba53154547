import Synchronization

/// How a step is held in its middle, and released where it has a lock that others need.
@available(Executors, *)
extension Scheduler {
    /// Resumes a held step on its own thread; returns whether the right to run has come back to this one.
    func resume(_ held: HeldStep, from thread: StepThread) -> Bool {
        if thread !== main { surroundings.threads.add(thread) }
        resume(held)
        guard thread === main else { return false }
        _ = thread.waitForOrder()
        return true
    }

    /// Ends the run on the exploration's own thread.
    func endRun(on thread: StepThread) {
        guard thread !== main else { return }
        surroundings.threads.add(thread)
        willRun(on: main)
        main.hand(.goOn)
    }

    func willRun(on thread: StepThread) {
        threadState.withLock { $0.running = thread }
    }

    private func resume(_ held: HeldStep) {
        run.state.withLock { state in
            state.candidates.isInStep = true
            state.segment = held.segment
        }
        willRun(on: held.thread)
        held.thread.hand(.goOn)
    }

    /// Holds the running step while others go on.
    ///
    /// - Returns: Whether the step was released since it has a lock, and not resumed.
    func hold(_ key: Candidate.Key, on thread: StepThread, for candidate: Candidate, behindOthers: Bool) -> Bool {
        run.state.withLock { state in
            state.segment.passedPoints = 0
            state.candidates.hold(
                Candidate(
                    work: .heldStep(HeldStep(thread: thread, segment: state.segment, acting: state.acting)),
                    participant: state.segment.participant,
                    label: nil,
                    key: key
                ),
                behindOthers: behindOthers
            )
            state.candidates.isInStep = false
        }
        if let other = candidate.heldStep {
            resume(other)
        } else {
            surroundings.threads.run(candidate, for: self)
        }
        var suspicion = LockSuspicion()
        return thread.waitForOrder {
            let activity = threadState.withLock { $0.running }.activity
            let segments = surroundings.progress.segments.load(ordering: .relaxed)
            let isDraining = run.state.withLock { $0.isDraining }
            return suspicion.isConfirmed(by: activity, after: segments, isDraining: isDraining)
                && giveUpSchedule(releasing: thread)
        }
    }

    /// Gives the schedule up, and releases a step whose lock the running thread seems to wait for.
    private func giveUpSchedule(releasing thread: StepThread) -> Bool {
        let isLast = run.state.withLock { state in
            guard state.candidates.lastHeld?.thread === thread else { return false }
            return state.candidates.takeLastHeld() != nil
        }
        guard isLast else { return false }
        threadState.withLock { state in
            state.runningThreads += state.isGivenUp ? 1 : 2
            state.isGivenUp = true
        }
        run.state.withLock { $0.isAbandoned = true }
        return true
    }

    /// Leaves a schedule that was given up, after a step of it; the last thread to leave ends the run.
    func leaveGivenUpSchedule(_ thread: StepThread) {
        let runningThreads = threadState.withLock { state in
            state.runningThreads -= 1
            return state.runningThreads
        }
        if runningThreads > 0 {
            if thread === main { _ = thread.waitForOrder() } else { surroundings.threads.add(thread) }
        } else if let held = run.state.withLock({ $0.candidates.takeLastHeld() }) {
            threadState.withLock { $0.runningThreads = 1 }
            _ = resume(held, from: thread)
        } else {
            endRun(on: thread)
        }
    }
}

/// The suspicion that the running thread waits for a lock that a held step has.
///
/// A thread that only gets no processor does not sleep, and does not use the processor either: that counts for nothing.
@available(Executors, *)
private struct LockSuspicion {
    /// How often the thread must be found asleep with nothing done in between, for a busy machine can look like a lock
    /// too.
    private static let neededSamples = 60
    /// The same while the thread waits for a block of a dispatch queue, whose own thread may be at work.
    private static let neededSamplesOfDrain = 240

    private var samplesAsleep = 0
    private var segments = -1
    private var processorTime: Duration?

    /// Whether that is so after one more look; no activity is no reason to suspect anything.
    mutating func isConfirmed(
        by activity: SystemThread.Activity?,
        after segments: Int,
        isDraining: Bool
    ) -> Bool {
        guard let activity, segments == self.segments, let start = processorTime else {
            samplesAsleep = 0
            self.segments = segments
            processorTime = activity?.processorTime
            return false
        }
        samplesAsleep = activity.isAsleep ? samplesAsleep + 1 : 0
        // Who waits may also spin, which uses the processor.
        return samplesAsleep >= (isDraining ? Self.neededSamplesOfDrain : Self.neededSamples)
            || activity.processorTime - start >= .milliseconds(10) * Self.neededSamples
    }
}
