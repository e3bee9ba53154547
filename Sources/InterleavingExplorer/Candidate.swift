/// Something that can run next.
struct Candidate: Sendable {
    enum Work: Sendable {
        /// A job of the concurrency runtime.
        case job(UnownedJob, JobLayout.Kind, taskID: UInt64, JobOrigin)
        /// Only wakes whoever waits for it, and touches nothing else.
        case wake(@Sendable () -> Void)
        /// A closure of the scenario or of the subject, which may touch anything.
        case closure(@Sendable () -> Void)
        /// The block at the head of a controlled queue.
        case block(ControlledQueue)
        /// Whatever has come to a suspended dispatch queue.
        case drain(SuspendedQueue)
        /// The timer of this number.
        case timer(Int)
    }

    let work: Work
    /// Whose lifeline the step belongs to.
    let participant: Int
    /// What the trace says of it.
    let label: Label
    /// What a random search gives a priority to: a task, or a single other step.
    let rank: Int

    enum Label: Sendable {
        case job
        case text(String)
    }

    /// Whether it may touch state that others can see without entering an actor.
    var isNoticeable: Bool {
        switch work {
        case .job(_, let kind, _, _): kind == .other
        case .wake: false
        case .closure, .block, .drain, .timer: true
        }
    }

    /// Whether it runs code of an actor.
    var entersActor: Bool {
        guard case .job(_, let kind, _, _) = work else { return false }
        return kind == .actor || kind == .other
    }

    /// Whether it can follow at once, as a part of the same step, what asked for it.
    ///
    /// An actor is entered right after it was asked for: the order of the asking is the choice. That loses
    /// nothing as long as what asked has touched nothing that others can see, which the caller makes sure of.
    /// A plain task is different: it goes on inside the actor's job when its call has returned, so its
    /// entries stay choices.
    func follows(_ asker: Candidate, alone: Bool) -> Bool {
        guard case .job(_, let kind, let taskID, let origin) = work else { return false }
        if kind == .actor {
            return origin == .executor
        }
        // A hop, or a plain task that goes on where it was: nothing has happened yet.
        guard alone, case .job(_, let askerKind, let askerID, let askerOrigin) = asker.work else { return false }
        return askerKind == .hop || (origin == .hook && askerOrigin == .hook && taskID == askerID)
    }
}

/// How a job came under control.
enum JobOrigin: Sendable {
    case executor
    case hook
}
