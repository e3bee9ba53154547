extension ScenarioRun {
    /// Runs a candidate, and what follows it at once.
    ///
    /// Returns what others could notice of it.
    func run(_ candidate: Candidate) -> Visibility {
        var chain = [candidate]
        var position = 0
        var visibility = Visibility.silent
        board.withLock { $0.isEventful = false }
        while position < chain.count {
            let part = chain[position]
            position += 1
            board.withLock { board in
                board.isStepping = true
                board.current = part.participant
                board.isInsideActor = part.entersActor
                board.cause = part.text
                board.isNoticed = false
                if position > 1, part.entersActor, board.isRecording {
                    let actor = board.nameOfActor(enteredBy: part)
                    board.record(.enters, by: part.participant, actor)
                }
            }
            perform(part)
            board.withLock { board in
                board.isStepping = false
                board.isEventful = board.isEventful || board.isNoticed || !board.fresh.isEmpty
                let isPure = !board.isNoticed && !part.isNoticeable && board.cannotTouchOthers(part)
                if !isPure {
                    visibility = .noticeable
                }
                let followsAtOnce = isPure && explorer.reductions.contains(.entersActorsAtOnce)
                for next in board.fresh {
                    if followsAtOnce, next.follows(part, alone: board.fresh.count == 1) {
                        chain.append(next)
                    } else {
                        if visibility == .silent {
                            visibility = .preparatory
                        }
                        if next.isNoticedWhenReady(madeBy: part) {
                            visibility = .noticeable
                        }
                        board.ready.append(next)
                    }
                }
                board.fresh.removeAll(keepingCapacity: true)
            }
        }
        return visibility
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
                    return board.take(0, of: 1, number: 0)
                }
                return board.timers.isEmpty ? nil : board.takeTimer(0)
            }
            guard let next else { return }
            _ = run(next)
            steps += 1
            if board.withLock({ $0.isEventful }) {
                drains = 0
            }
        }
    }

    private func perform(_ candidate: Candidate) {
        switch candidate.work {
        case .job(let job):
            unsafe job.job.runSynchronously(on: controlledExecutor.asUnownedTaskExecutor())
        case .wake(let action), .closure(let action), .cancellation(_, let action):
            action()
        case .block(let queue):
            queue.runHead()
        case .drain(let queue):
            board.withLock { $0.isDraining = true }
            queue.drain()
            board.withLock { $0.isDraining = false }
        case .timer(let number):
            let timer = board.withLock { board in
                let timer = board.removeTimer(number)
                board.now = max(board.now, timer?.deadline ?? board.now)
                return timer
            }
            timer?.fire()
        }
    }
}
