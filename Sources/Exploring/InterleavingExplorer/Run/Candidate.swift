/// Something that can run next.
struct Candidate: Sendable {
    enum Work: Sendable {
        /// A job of the concurrency runtime.
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
        /// The timer of this number.
        case timer(Int)
        /// The rest of a step that is held at a preemption point.
        case rest(HeldStep)
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
        /// Its index among all that has become ready in its run.
        let arrival: Int
    }

    /// What the trace says of it, if that is more than that it runs.
    var text: String? {
        guard case .text(let text) = label else { return nil }
        return text
    }

    /// Whether it is the rest of a step that is held.
    var isRest: Bool {
        guard case .rest = work else { return false }
        return true
    }

    /// Whether it only wakes a task.
    var isWake: Bool {
        guard case .wake = work else { return job?.kind == .hop }
        return true
    }

    /// The operation that it cancels, if it does.
    var cancelled: Int? {
        guard case .cancellation(let participant, _) = work else { return nil }
        return participant
    }

    /// The job, if it is one.
    var job: ControlledJob? {
        guard case .job(let job) = work else { return nil }
        return job
    }

    /// Whether it runs code that the explorer knows nothing of, or whose way from actor to actor it cannot follow.
    var isOpaque: Bool {
        switch work {
        case .job(let job): job.kind == .other || job.origin == .hook && !job.isFollowed
        case .wake, .rest: false
        case .closure, .cancellation, .block, .drain, .timer: true
        }
    }

    /// Whether it runs code of an actor, or something of the runtime that is not known.
    var entersActor: Bool {
        job.map { $0.kind == .actor || $0.kind == .other } ?? false
    }

    /// Whether it can follow at once, as a part of the same step, what asked for it.
    ///
    /// An actor is entered right after it was asked for: the order of the asking is the choice. That loses
    /// nothing as long as what asked has touched nothing that others can see, which the caller makes sure of.
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

/// A closure that is run once, and let go before its step ends.
///
/// It may have the last reference to an object of the subject, whose end belongs to the step; the candidate is kept longer.
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
struct HeldStep: Sendable {
    let thread: StepThread
    let stretch: Stretch
}

/// What runs from one point to the next.
struct Stretch: Sendable {
    /// Whose step it is.
    var participant = Board.scenario
    /// The job, if it is one.
    var job: ControlledJob?
    /// The actor that the step runs in, if it is an actor's.
    var actor: UInt?
    /// By what the footprint knows the actor, which may be gone when the step is over.
    var actorOrdinal: Int?
    var isInsideActor = false
    /// Whether code follows when a job is enqueued: not where a task is only woken.
    var isWake = false
    /// What the scenario or the clock does.
    var cause: String?
    var footprint = Footprint()
    /// The actors that were asked for at its end.
    var requests: [Int] = []
    /// What it had touched where it could not be held, since the subject has a lock there.
    var beforeLock: Footprint?
    /// Whether it goes on behind a preemption point.
    var isRest = false
    /// Whether it waits for the run to wake it.
    var isPausing = false
    /// Whether nobody but the scenario can await or cancel the tasks that ran.
    var isPrivate = true
    /// The operation that the scenario cancels, if it does.
    var cancelled: Int?
    /// How many marked stretches are open, inside which nothing else comes.
    var undivided = 0
}

extension Stretch {
    /// Goes on where it cannot be held: others that could have run here would notice only what it touches from now on.
    mutating func passLockedPoint() {
        footprint.merge(beforeLock ?? Footprint())
        beforeLock = footprint
        footprint = Footprint()
    }

    /// The stretch that begins with a candidate; what came before in the same step has left its traces.
    init(of candidate: Candidate, after last: Stretch) {
        participant = candidate.participant
        job = candidate.job
        cause = candidate.text
        isInsideActor = candidate.entersActor
        if let job { actor = ActorIdentity.address(servedBy: job) }
        footprint = last.footprint
        beforeLock = last.beforeLock
        isPrivate = last.isPrivate
        isWake = candidate.isWake
        cancelled = candidate.cancelled
        // Also if the operation has ended, or is cancelled already.
        if let cancelled { footprint.write(.init(kind: .cancellation, ordinal: cancelled)) }
        if candidate.isOpaque {
            footprint.isOpaque = true
            isPrivate = false
        }
    }
}
