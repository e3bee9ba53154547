import Dispatch
import Synchronization

@available(Executors, *)
extension ScheduledRun {
    /// Whether the caller is on the thread of this exploration, or on a queue that it waits for.
    var isControlling: Bool {
        if ActiveRuns.onThisThread?.escapes === escapes {
            return true
        }
        // The lock last: tasks of the whole process ask, and most of them run on no queue of this exploration.
        guard DispatchQueue.getSpecific(key: SuspendedQueue.key) == ObjectIdentifier(self) else { return false }
        return state.withLock { $0.isDraining }
    }

    /// The run that a job belongs to which is on its way to the process-wide pool.
    static func claiming(_ job: UnownedJob) -> ScheduledRun? {
        // A task stays with the run in which it began, whichever step resumes it; a new one belongs to the step that
        // starts it.
        ActiveRuns.first { $0.knowsTask(of: job) } ?? current
    }

    private func knowsTask(of job: UnownedJob) -> Bool {
        state.withLock { $0.participants.knowsTask(JobLayout.taskID(of: job)) }
    }

    /// Notes that something has happened outside of control; of what is left of an abandoned run, anything may.
    func reportEscape(_ message: String) {
        if state.withLock({ $0.phase == .over && $0.isAbandoned }) {
            return
        }
        escapes.report(message)
    }

    /// Takes a job over, from the executor that its task prefers, or from the hook, where its task prefers none yet.
    func accept(_ job: UnownedJob, isFollowed: Bool) {
        var job = ControlledJob(job, isFollowed: isFollowed)
        let preference = controlledExecutor.preference
        TaskCensus.note(job.taskID, on: surroundings.census)
        let isControlled = isControlling
        let (culprit, isLate, reason) = state.withLock { state -> (String?, Bool, String) in
            let current = state.participants.currentOutOfSight ?? state.current
            let parent = current ?? state.segment.participant
            job.isNew = !state.participants.knowsTask(job.taskID)
            let wasOutOfSight = state.participants.isOutOfSight(task: job.taskID)
            let participant = state.participants.owner(
                ofTask: job.taskID,
                startedBy: parent,
                for: state.segment.cause
            )
            let culprit = isControlled ? participant : state.culprit(behind: participant)
            job.isFollowed = isFollowed || job.isNew && preference != nil
            state.note(job, of: participant, preference: preference)
            let reason =
                state.findings.realSleepers.contains(culprit)
                ? "it sleeps by a clock of the system (Task.sleep): let it sleep by the run's clock"
                : """
                something in it waits for a real timer, or a queue or thread of its own: let a fake wait with \
                run.pause("answer"), and hand a dispatch queue to the run with run.control(queue)
                """
            if state.phase == .over {
                // Of an abandoned run anything may come late: its end was not waited for.
                return (isControlled || state.isAbandoned ? nil : state.participants.name(of: culprit), true, reason)
            }
            // The job of an actor is no task's: its participant keeps the reference that it has.
            if job.isNew, let reference = TaskReference(of: job) {
                state.participants[participant].reference = reference
            }
            state.candidates.add(.job(job), of: participant, as: nil, rank: participant)
            // A task that leaves the actor has run there, and nobody has woken it.
            let hasRunThere =
                state.segment.served.contains(participant) || wasOutOfSight && state.segment.isInsideActor
            let isLeaving = current == nil && hasRunThere
            if job.kind == .task, state.candidates.isInStep, participant != parent, state.isRecording, !isLeaving {
                let name = state.participants.name(of: participant)
                state.record(job.isNew && !wasOutOfSight ? .starts : .wakes, by: parent, name)
            }
            return (isControlled ? nil : state.participants.name(of: culprit), false, reason)
        }
        if isLate {
            controlledExecutor.release(job.job)
        }
        if isControlled, !isLate { preemptionPoint() }
        if let culprit {
            escapes.report(
                "\(culprit) was resumed by another thread\(isLate ? " after its run" : ""): \(reason)"
            )
        }
    }
}

/// Jobs of actors that have an executor of their own, which is one of the run.
@available(Executors, *)
extension ScheduledRun {
    /// Notes whose task a job runs, and returns the name.
    func introduce(_ job: UnownedJob) -> String {
        let job = ControlledJob(job, isFollowed: true)
        let preference = controlledExecutor.preference
        TaskCensus.note(job.taskID, on: surroundings.census)
        return state.withLock { state in
            let isNew = !state.participants.knowsTask(job.taskID)
            let participant = state.participants.owner(
                ofTask: job.taskID,
                startedBy: state.acting,
                for: state.segment.cause
            )
            if isNew, job.kind == .task {
                state.participants[participant].begin(job)
                preference?.attach(toTaskAt: job.address)
                state.participants[participant].reference = TaskReference(of: job)
            }
            return state.participants.name(of: participant)
        }
    }

    /// Runs a job of such an actor.
    func perform(_ job: UnownedJob, for actor: UnownedSerialExecutor) {
        let (address, id) = (JobLayout.address(of: job), JobLayout.taskID(of: job))
        let isTask = JobLayout.kind(of: job) == .task
        // A child that has ended may be gone when its parent goes on.
        if isTask { TaskReference.retain(address) }
        unsafe job.runSynchronously(on: actor)
        guard isTask else { return }
        state.withLock { $0.noteStatus(ofTask: id) }
        TaskReference.release(address)
    }
}

/// The runs that are under way: at most one on a thread.
@available(Executors, *)
enum ActiveRuns {
    private static let runs = Protected<[ScheduledRun]>([])
    private static let count = Atomic<Int>(0)

    /// Whether any run is under way; every plain task of the process asks.
    static var areAny: Bool { count.load(ordering: .acquiring) > 0 }

    /// The run whose steps run on the calling thread; it is not retained, since its caller holds it for as long.
    static var onThisThread: ScheduledRun? {
        guard let run = unsafe ThreadPointer.value else { return nil }
        return unsafe Unmanaged<ScheduledRun>.fromOpaque(run).takeUnretainedValue()
    }

    /// Lets the calling thread run the steps of a run.
    static func with<Result>(_ run: ScheduledRun, _ body: () -> Result) -> Result {
        runs.withLock { $0.append(run) }
        count.add(1, ordering: .releasing)
        defer {
            count.subtract(1, ordering: .releasing)
            runs.withLock { $0.removeAll { $0 === run } }
        }
        return joining(run, body)
    }

    /// Lets another thread run steps of a run that is under way.
    static func joining<Result>(_ run: ScheduledRun, _ body: () -> Result) -> Result {
        unsafe ThreadPointer.value = Unmanaged.passUnretained(run).toOpaque()
        defer { unsafe ThreadPointer.value = nil }
        return body()
    }

    static func first(where condition: (ScheduledRun) -> Bool) -> ScheduledRun? {
        runs.withLock { $0 }.first(where: condition)
    }
}
