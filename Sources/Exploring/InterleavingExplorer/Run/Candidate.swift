/// Something that can run next.
@available(Executors, *)
struct Candidate: Sendable {
    enum Work: Sendable {
        case job(ControlledJob)
        /// Only wakes the task that waits for it, and touches nothing else.
        case wake(@Sendable () -> Void)
        /// A closure of the scenario, which may touch anything.
        case closure(Action)
        /// Cancels the operation that is this participant.
        case cancellation(of: Int, Action)
        /// The block at the head of a controlled queue.
        case block(ControlledQueue)
        /// Whatever has come to a suspended dispatch queue.
        case drain(SuspendedQueue)
        /// Moves the clock to the deadline.
        case timer(at: Duration, Action)
        /// A step that goes on behind the preemption point at which it is held.
        case heldStep(HeldStep)
    }

    /// What a search knows a candidate by.
    struct Key: Sendable {
        /// What has a priority in a random search: a task, or a single other step.
        let rank: Int
        /// Its index among all that has become ready in its run.
        let arrival: Int
    }

    let work: Work
    let participant: Int
    /// What the trace says of it; `nil` for a job, of which the trace says only that it runs.
    let label: String?
    let key: Key

    var heldStep: HeldStep? {
        guard case .heldStep(let step) = work else { return nil }
        return step
    }

    var job: ControlledJob? {
        guard case .job(let job) = work else { return nil }
        return job
    }

    var isWake: Bool {
        guard case .wake = work else { return job?.kind == .hop }
        return true
    }

    var cancelled: Int? {
        guard case .cancellation(let participant, _) = work else { return nil }
        return participant
    }

    /// Whether it runs code that the explorer knows nothing of, or whose way from actor to actor it cannot follow.
    var isOpaque: Bool {
        switch work {
        case .job(let job): job.kind == .other || !job.isFollowed
        case .wake, .heldStep: false
        case .closure, .cancellation, .block, .drain, .timer: true
        }
    }

    /// Whether it runs code of an actor, or something of the runtime that is not known.
    var entersActor: Bool {
        job.map { $0.kind == .actor || $0.kind == .other } ?? false
    }

    /// Whether it can follow at once, as a part of the same step, what asked for it and has touched nothing yet.
    ///
    /// An actor is entered right after it was asked for: the order of the asking is the choice.
    func follows(_ asker: Candidate) -> Bool {
        guard let job else { return false }
        if job.kind == .actor {
            return job.isFollowed
        }
        // Where nothing has happened but the asking, the answer is the same step.
        switch asker.work {
        case .wake: return true
        case .job(let other): return other.kind == .hop
        default: return false
        }
    }
}

/// A closure that is run once, and released before its step ends.
///
/// It may have the last reference to an object of the subject, whose end belongs to the step; the candidate is kept
/// longer.
@available(Executors, *)
final class Action: Sendable {
    private let body: Protected<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = Protected(body)
    }

    func run() {
        let body = body.withLock { $0.take() }
        body?()
    }
}

/// A step that is held at a preemption point, on a thread of its own, while others go on.
@available(Executors, *)
struct HeldStep: Sendable {
    let thread: StepThread
    let segment: Segment
    /// Who ran when it was held.
    let acting: Int
}
