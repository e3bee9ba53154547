import Dispatch

extension ScenarioRun {
    /// Whether the caller is on the thread of this exploration, or on a queue that it waits for.
    var isControlling: Bool {
        if ActiveRuns.onThisThread?.escapes === escapes {
            return true
        }
        guard board.withLock({ $0.isDraining }) else { return false }
        return DispatchQueue.getSpecific(key: SuspendedQueue.key) == ObjectIdentifier(self)
    }

    /// The run that a job belongs to which is on its way to the process-wide pool.
    static func claiming(_ job: UnownedJob) -> ScenarioRun? {
        // A task stays with the run in which it began, whoever resumes it; a new one belongs to the step that starts it.
        let run = ActiveRuns.first { $0.knowsTask(of: job) } ?? current
        return run?.explorer.capturesPlainTasks == true ? run : nil
    }

    private func knowsTask(of job: UnownedJob) -> Bool {
        let id = JobLayout.taskID(of: job)
        return board.withLock { $0.tasks[id] != nil }
    }

    /// Notes that something has happened outside of control; of what is left of an abandoned run, anything may.
    func reportEscape(_ message: String) {
        if board.withLock({ $0.phase == .over && $0.isAbandoned }) {
            return
        }
        escapes.report(message)
    }

    /// Takes a job that has become ready to run.
    func accept(_ job: UnownedJob, from origin: ControlledJob.Origin) {
        var job = ControlledJob(job, from: origin)
        let isControlled = isControlling
        let starter = Self.participant
        let (culprit, isLate) = board.withLock { board -> (String?, Bool) in
            let parent = board.actor(telling: starter)
            job.isNew = board.tasks[job.taskID] == nil
            let participant = board.participant(ofTask: job.taskID, startedBy: parent)
            if board.phase == .over {
                // Of an abandoned run anything may come late: its end was not waited for.
                return (isControlled || board.isAbandoned ? nil : board.name(of: participant), true)
            }
            if job.isNew, let reference = TaskReference(of: job, participant: participant) {
                board.references.append(reference)
            }
            board.add(.job(job), of: participant, as: .job, rank: participant)
            if board.isRecording, job.kind == .task, board.isStepping, participant != parent {
                let name = board.name(of: participant)
                board.record(job.isNew ? .starts : .wakes, by: parent, name)
            }
            return (isControlled ? nil : board.name(of: participant), false)
        }
        if isLate {
            controlledExecutor.release(job.job)
        }
        if let culprit {
            escapes.report(
                """
                \(culprit) was resumed by another thread\(isLate ? " after its run" : ""): something in it \
                waits for a real timer, the main actor, or a queue or thread of its own
                """
            )
        }
    }
}
