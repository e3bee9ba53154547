/// Code of one step that runs in one piece: from its beginning or a preemption point to its end or the next such point.
@available(Executors, *)
struct Segment: Sendable {
    var participant = Participants.scenario
    var job: ControlledJob?
    var actor: UInt?
    /// The actor's ordinal in footprints, for the actor may be gone when the step is over.
    var actorOrdinal: Int?
    var isInsideActor = false
    /// Those for whom the actor runs; empty where nothing is recorded.
    var served: [Int] = []
    /// Whether it only wakes a task, and no code follows where that task's job is enqueued.
    var isWake = false
    /// What the scenario or the clock does.
    var cause: String?
    var footprint = Footprint()
    /// The actors that were asked for; they count as touched at its end.
    var requests = Footprint.Objects()
    /// What it had touched up to a preemption point at which the subject has a lock.
    var footprintBeforeLock: Footprint?
    /// Whether it has touched something since, up to another such point.
    var isCutByLock = false
    var followsPoint = false
    /// Whether it waits for the run to wake it.
    var isPausing = false
    /// Whether only the scenario can await or cancel the tasks that ran.
    var isPrivate = true
    var cancelled: Int?
    /// Whether it is of a step whose code may touch anything.
    private var isOpaque = false
    /// How many points it has passed since others had their turn.
    var passedPoints = 0
    /// Whether those were too many once.
    private var isLooping = false
    /// How many marks with a body are open, inside which there is no preemption point.
    var openMarks = 0

    init() {}

    /// The segment that begins with a candidate, which may be a later part of a step and then keeps the step's
    /// footprint.
    init(of candidate: Candidate, after last: Segment) {
        participant = candidate.participant
        job = candidate.job
        cause = candidate.label
        isInsideActor = candidate.entersActor
        actor = job?.actor
        footprint = last.footprint
        footprintBeforeLock = last.footprintBeforeLock
        isCutByLock = last.isCutByLock
        isPrivate = last.isPrivate
        isWake = candidate.isWake
        cancelled = candidate.cancelled
        // Also if the operation has ended, or is cancelled already.
        if let cancelled { footprint.writes.cancellations.insert(cancelled) }
        isOpaque = candidate.isOpaque
        touchAnything()
    }

    /// Begins the segment behind a point.
    mutating func passPoint() {
        followsPoint = true
        touchAnything()
    }

    /// Notes that code runs which may touch anything, if the step is of that sort.
    private mutating func touchAnything() {
        guard isOpaque else { return }
        footprint.isOpaque = true
        isPrivate = false
    }

    /// Counts a point, and returns whether the step may loop until another one has done something.
    mutating func countPoint(atMost limit: Int) -> Bool {
        passedPoints += 1
        isLooping = isLooping || passedPoints > limit
        return isLooping
    }

    /// Goes on where it cannot be held: others that could have run here would notice only what it touches from now on.
    mutating func passLockedPoint() {
        if let before = footprintBeforeLock {
            isCutByLock = isCutByLock || !footprint.isEmpty
            footprint.merge(before)
        }
        footprintBeforeLock = footprint
        footprint = Footprint()
    }
}
