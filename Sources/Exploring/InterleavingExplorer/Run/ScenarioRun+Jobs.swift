import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

extension ScenarioRun {
    /// Whether the caller is on the thread of this exploration, or on a queue that it waits for.
    var isControlling: Bool {
        if ActiveRuns.onThisThread?.escapes === escapes {
            return true
        }
        // The lock last: tasks of the whole process ask, and most of them run on no queue of this exploration.
        guard DispatchQueue.getSpecific(key: SuspendedQueue.key) == ObjectIdentifier(self) else { return false }
        return board.withLock { $0.isDraining }
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
        let preference = controlledExecutor.preference
        TaskCensus.note(job.taskID, on: surroundings.census)
        let isControlled = isControlling
        let starter = Self.participant
        let (culprit, isLate) = board.withLock { board -> (String?, Bool) in
            let parent = board.current ?? board.actor(telling: starter)
            job.isNew = board.tasks[job.taskID] == nil
            let participant = board.participant(ofTask: job.taskID, startedBy: parent)
            job.isFollowed = origin == .executor || job.isNew && preference != nil
            board.note(job, of: participant, preference: preference)
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
        if isControlled, !isLate { point() }
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

/// The runs that are under way: at most one on a thread.
enum ActiveRuns {
    private static let runs = Protected<[ScenarioRun]>([])
    private static let count = Atomic<Int>(0)

    /// Where each thread keeps its run, which is not retained: it is active for no longer than its caller holds it.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key, nil)
        precondition(status == 0, "The process has no thread-specific key left")
        return key
    }()

    /// The run whose steps run on the calling thread.
    static var onThisThread: ScenarioRun? {
        guard let run = unsafe pthread_getspecific(key) else { return nil }
        return unsafe Unmanaged<ScenarioRun>.fromOpaque(run).takeUnretainedValue()
    }

    /// Lets the calling thread run the steps of a run.
    static func with<Result>(_ run: ScenarioRun, _ body: () -> Result) -> Result {
        runs.withLock { $0.append(run) }
        count.add(1, ordering: .releasing)
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(run).toOpaque())
        defer {
            pthread_setspecific(key, nil)
            count.subtract(1, ordering: .releasing)
            runs.withLock { $0.removeAll { $0 === run } }
        }
        return body()
    }

    /// Lets another thread run steps of a run that is under way.
    static func joining(_ run: ScenarioRun, _ body: () -> Void) {
        unsafe pthread_setspecific(key, Unmanaged.passUnretained(run).toOpaque())
        defer { pthread_setspecific(key, nil) }
        body()
    }

    /// A run that meets a condition, on any thread.
    static func first(where condition: (ScenarioRun) -> Bool) -> ScenarioRun? {
        // Every plain task of the process comes by, also when nothing is explored.
        guard count.load(ordering: .acquiring) > 0 else { return nil }
        return runs.withLock { $0 }.first(where: condition)
    }
}
