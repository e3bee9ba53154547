import Synchronization

extension ScenarioRun {
    /// Runs a candidate, and what follows it at once.
    func run(_ candidate: Candidate) {
        board.withLock { $0.isEventful = false }
        var part = candidate
        var parts = 0
        while true {
            parts += 1
            let current = part
            let isFirst = parts == 1
            board.withLock { $0.begin(current, isFirst: isFirst) }
            perform(part)
            let next = board.withLock { board -> Candidate? in
                board.isStepping = false
                let isPure = board.stretch.footprint.isEmpty
                board.settle()
                guard isPure, board.stretch.footprint.isEmpty, !entersActorsLater,
                    !part.isOpaque, board.suspendedQueues.isEmpty, board.fresh.count == 1, let next = board.fresh.first,
                    next.follows(part), parts <= explorer.maximumSteps,
                    !board.canBeCancelled(board.stretch.footprint.lineage)
                else { return nil }
                board.fresh.removeFirst()
                board.stretch.requests = []
                return next
            }
            guard let next else { return }
            part = next
        }
    }

    /// Runs the oldest candidates until a condition is met or nothing can run any more.
    func runInOrder(atMost limit: Int, until isDone: () -> Bool) {
        var steps = 0
        // Nobody can tell whether blocks are left; after some drains that did nothing there are none.
        var drains = 0
        while steps < limit, !isDone() {
            let next = board.withLock { board -> Candidate? in
                if board.ready.isEmpty, drains < SuspendedQueue.longestChain, board.offerDrains() {
                    drains += 1
                }
                if !board.ready.isEmpty {
                    return board.take(0, of: 1, isAhead: false, number: 0)
                }
                return board.timers.isEmpty ? nil : board.takeTimer(0)
            }
            guard let next else { return }
            run(next)
            steps += 1
            surroundings.pulse.beats.add(1, ordering: .relaxed)
            board.withLock { board in
                _ = board.endStretch()
                if board.isEventful { drains = 0 }
            }
        }
    }

    private func perform(_ candidate: Candidate) {
        switch candidate.work {
        case .job(let job):
            let isTask = job.kind == .task
            if isTask { TaskReference.retain(job.address) }
            unsafe job.job.runSynchronously(on: controlledExecutor.asUnownedTaskExecutor())
            if isTask {
                // A child that has ended may be gone when its parent goes on, so its status is looked at before.
                board.withLock { $0.settle() }
                TaskReference.release(job.address)
            }
        case .wake(let wake):
            wake()
        case .closure(let action), .cancellation(_, let action):
            action.run()
        case .block(let queue):
            queue.runHead()
        case .drain(let queue):
            board.withLock { $0.isDraining = true }
            surroundings.pulse.waiting { queue.drain() }
            board.withLock { $0.isDraining = false }
        case .timer(let number):
            let timer = board.withLock { board in
                let timer = board.removeTimer(number)
                board.now = max(board.now, timer?.deadline ?? board.now)
                return timer
            }
            timer?.fire()
        case .rest:
            break
        }
    }
}
