import Synchronization

@available(Executors, *)
extension ScheduledRun {
    /// Runs a candidate, and what follows it at once.
    func run(_ candidate: Candidate) {
        state.withLock { $0.isEventful = false }
        var next: Candidate? = candidate
        var parts = 0
        while let part = next {
            parts += 1
            state.withLock { $0.begin(part, isFirst: parts == 1) }
            perform(part)
            next = state.withLock { state in
                state.candidates.isInStep = false
                state.noteStatuses()
                guard state.segment.footprint.isEmpty, !knowledge.steps.entersActorsLater,
                    !part.isOpaque, state.candidates.queues.isEmpty, parts <= maximumSteps,
                    !state.candidates.mayCancel(state.segment.footprint.lineage),
                    let follower = state.candidates.takeFollower(of: part)
                else { return nil }
                state.segment.requests = Footprint.Objects()
                return follower
            }
        }
    }

    /// Runs the oldest candidates until a condition is met or nothing can run any more; `false` at the limit.
    @discardableResult
    func runInOrder(atMost limit: Int, until isDone: () -> Bool) -> Bool {
        state.withLock { $0.candidates.idleDrains = 0 }
        var steps = 0
        while !isDone() {
            guard steps < limit else { return false }
            let next = state.withLock { state -> Candidate? in
                if state.candidates.isNothingReady { _ = state.candidates.offerLastDrains() }
                return state.candidates.takeOldest()
            }
            guard let next else { return true }
            run(next)
            steps += 1
            surroundings.progress.segments.add(1, ordering: .relaxed)
            state.withLock { state in
                _ = state.endSegment()
                if state.isEventful { state.candidates.idleDrains = 0 }
            }
        }
        return true
    }

    private func perform(_ candidate: Candidate) {
        switch candidate.work {
        case .job(let job):
            let isTask = job.kind == .task
            if isTask { TaskReference.retain(job.address) }
            unsafe job.job.runSynchronously(on: controlledExecutor.asUnownedTaskExecutor())
            if isTask {
                // A child that has ended may be gone when its parent goes on, so its status is looked at before.
                state.withLock { $0.noteStatuses() }
                TaskReference.release(job.address)
            }
        case .wake(let wake):
            wake()
        case .closure(let action), .cancellation(_, let action):
            action.run()
        case .block(let queue):
            queue.runHead()
        case .drain(let queue):
            state.withLock { $0.isDraining = true }
            queue.drain()
            state.withLock { $0.isDraining = false }
        case .timer(let deadline, let action):
            state.withLock { state in
                state.touchMarks(isTime: true)
                state.candidates.advance(to: deadline)
            }
            action.run()
        case .heldStep:
            break
        }
    }
}
