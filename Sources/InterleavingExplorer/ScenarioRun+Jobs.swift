import Dispatch

extension ScenarioRun {
    /// Whether the caller is on the exploring thread, or on a queue that it waits for.
    var isControlling: Bool {
        if ExploringThread.isCurrent {
            return true
        }
        guard board.withLock(\.isDraining) else { return false }
        return DispatchQueue.getSpecific(key: SuspendedQueue.key) == ObjectIdentifier(self)
    }

    /// Whether a job that is on its way to the process-wide pool belongs to this run.
    func claims(_ job: UnownedJob) -> Bool {
        guard explorer.capturesPlainTasks else { return false }
        if isControlling {
            return true
        }
        // From another thread: only a task that began here, and has got away meanwhile.
        let id = JobLayout.taskID(of: job)
        return board.withLock { $0.tasks[id] != nil && $0.phase != .over }
    }

    /// Takes a job that has become ready to run.
    func accept(_ job: UnownedJob, from origin: JobOrigin) {
        let id = JobLayout.taskID(of: job)
        let kind = JobLayout.kind(of: job)
        // A drained queue works while the exploring thread waits, so its wake-ups are under control.
        let isControlled = ExploringThread.isCurrent || board.withLock(\.isDraining)
        let starter = Self.participant
        let (who, isLate) = board.withLock { board -> (String?, Bool) in
            let parent = starter ?? board.current
            let known = board.tasks[id] != nil
            let participant = id == 0 ? parent : board.participant(ofTask: id, startedBy: parent)
            if board.phase == .over {
                return (board.failure == nil ? board.name(of: participant) : nil, true)
            }
            board.add(.job(job, kind, taskID: id, origin), of: participant, as: .job, rank: participant)
            if kind == .task, board.isStepping, participant != parent {
                let name = board.name(of: participant)
                board.record(known ? .wakes : .starts, by: parent, name)
            }
            return (isControlled ? nil : board.name(of: participant), false)
        }
        if isLate {
            controlledExecutor.release(job)
        }
        // Of a run that has failed anything may come late: its end was not waited for.
        if let who, !isControlled {
            escapes.report(
                """
                \(who) was resumed by another thread\(isLate ? " after its run" : ""): something in it waits \
                for a real timer, the main actor, or a queue or thread of its own
                """
            )
        }
    }
}
