/// Something that can run next.
struct Candidate: Sendable {
    enum Work: Sendable {
        /// A job of the concurrency runtime.
        case job(ControlledJob)
        /// Only wakes whoever waits for it, and touches nothing else.
        case wake(@Sendable () -> Void)
        /// A closure of the scenario, which may touch anything.
        case closure(@Sendable () -> Void)
        /// Cancels the operation that is this participant.
        case cancellation(of: Int, @Sendable () -> Void)
        /// The block at the head of a controlled queue.
        case block(ControlledQueue)
        /// Whatever has come to a suspended dispatch queue.
        case drain(SuspendedQueue)
        /// The timer of this number.
        case timer(Int)
    }

    enum Label: Sendable {
        case job
        case text(String)
    }

    let work: Work
    /// Whose lifeline the step belongs to.
    let participant: Int
    /// What the trace says of it.
    let label: Label
    let key: Key

    /// What a search knows a candidate by.
    struct Key: Sendable {
        /// What has a priority in a random search: a task, or a single other step.
        let rank: Int
        /// The how-manieth thing it is that has become ready in its run.
        let arrival: Int
    }

    /// What the trace says of it, if that is more than that it runs.
    var text: String? {
        guard case .text(let text) = label else { return nil }
        return text
    }

    /// The job, if it is one.
    var job: ControlledJob? {
        guard case .job(let job) = work else { return nil }
        return job
    }

    /// Whether it runs code that the explorer knows nothing of and that enters no actor.
    var isOpaque: Bool {
        switch work {
        case .job, .wake: false
        case .closure, .cancellation, .block, .drain, .timer: true
        }
    }

    /// Whether it runs code of an actor, or something of the runtime that is not known.
    var entersActor: Bool {
        job.map { $0.kind == .actor || $0.kind == .other } ?? false
    }

    /// Whether others may notice it, whatever it does.
    var isNoticeable: Bool {
        // A group hands out results in the order in which its children end.
        isOpaque || job?.isGroupChild == true
    }

    /// Whether others may notice that a step has made this ready.
    ///
    /// A new task, a hop of the same task or the end of a pause changes nothing for them. But the order in
    /// which an actor is asked counts, and so does who wakes somebody first.
    func isNoticedWhenReady(madeBy maker: Candidate) -> Bool {
        guard let job else { return false }
        switch job.kind {
        case .task: return !job.isNew && job.taskID != maker.job?.taskID
        case .hop: return false
        case .actor, .other: return true
        }
    }

    /// Whether it can follow at once, as a part of the same step, what asked for it.
    ///
    /// An actor is entered right after it was asked for: the order of the asking is the choice. That loses
    /// nothing as long as what asked has touched nothing that others can see, which the caller makes sure of.
    /// A plain task is different: it goes on inside the actor's job when its call has returned, so its
    /// entries stay choices.
    func follows(_ asker: Candidate, alone: Bool) -> Bool {
        guard let job else { return false }
        if job.kind == .actor {
            return job.origin == .executor
        }
        // Where nothing has happened but the asking, the answer is the same step.
        switch asker.work {
        case .wake: return true
        case .job(let other) where other.kind == .hop: return true
        case .job(let other): return alone && other.origin == .hook && other.taskID == job.taskID
        default: return false
        }
    }
}
