/// What can run, in the order in which it became ready, and the timers.
@available(Executors, *)
struct Candidates: Sendable {
    var isInStep = false
    private var ready: [Candidate] = []
    /// What became ready in the segment that runs now, and can run when it is over.
    private(set) var madeReady: [Candidate] = []
    /// In order of deadlines and then of arrival, which is a timer's number.
    private var timers: [(deadline: Duration, candidate: Candidate)] = []
    private(set) var now = Duration.zero
    private(set) var queues: [SuspendedQueue] = []
    /// How many drains were the last resort since something has happened.
    var idleDrains = 0
    private(set) var arrivals = 0
    /// How many steps are held, and how many cancellations are ready: mostly none, and asked at each point.
    private(set) var heldSteps = 0
    private var cancellations = 0

    /// A key for what becomes ready now; without a rank of its own, it has one that nothing else has.
    mutating func nextKey(rank: Int? = nil) -> Candidate.Key {
        arrivals += 1
        return Candidate.Key(rank: rank ?? -arrivals, arrival: arrivals)
    }

    // MARK: What is ready

    mutating func add(_ work: Candidate.Work, of participant: Int, as label: String?, rank: Int? = nil) {
        let candidate = Candidate(work: work, participant: participant, label: label, key: nextKey(rank: rank))
        if candidate.cancelled != nil { cancellations += 1 }
        if isInStep {
            madeReady.append(candidate)
        } else {
            ready.append(candidate)
        }
    }

    /// Lets run what the segment has made ready that is over.
    mutating func endSegment() {
        guard !madeReady.isEmpty else { return }
        ready.append(contentsOf: madeReady)
        madeReady.removeAll(keepingCapacity: true)
    }

    /// Takes out what the segment has made ready, if that is one candidate, which follows at once what asked for it.
    mutating func takeFollower(of asker: Candidate) -> Candidate? {
        madeReady.count == 1 && madeReady[0].follows(asker) ? madeReady.removeFirst() : nil
    }

    var isNothingReady: Bool { ready.isEmpty }

    /// The keys of what can be taken; those of timers come last.
    func keys(withTimers: Bool) -> [Candidate.Key] {
        var keys = ready.map { $0.key }
        if withTimers, hasTimers { keys += dueTimers.map { $0.key } }
        return keys
    }

    mutating func take(_ key: Candidate.Key) -> Candidate? {
        guard let index = ready.firstIndex(where: { $0.key.arrival == key.arrival }) else {
            return removeTimer(key.arrival)
        }
        return remove(at: index)
    }

    private mutating func remove(at index: Int) -> Candidate {
        let candidate = ready.remove(at: index)
        if candidate.heldStep != nil { heldSteps -= 1 }
        if candidate.cancelled != nil { cancellations -= 1 }
        return candidate
    }

    mutating func takeOldest() -> Candidate? {
        guard let key = keys(withTimers: true).first else { return nil }
        return take(key)
    }

    /// Whether a cancellation is ready that would reach one of these tasks.
    func mayCancel(_ tasks: Footprint.Ordinals) -> Bool {
        guard cancellations > 0 else { return false }
        // The optimizer of 6.3.1 ends with an error at `contains` with the same condition.
        for case .cancellation(of: let task, _) in ready.map(\.work) where tasks.contains(task) { return true }
        return false
    }

    mutating func removeAll() {
        (ready, timers, queues, heldSteps, cancellations) = ([], [], [], 0, 0)
    }

    // MARK: Held steps

    /// Puts the step that is held now before all others; one that waits for the others comes behind them.
    mutating func hold(_ step: Candidate, behindOthers: Bool) {
        ready.insert(step, at: behindOthers ? ready.count : 0)
        heldSteps += 1
    }

    var lastHeld: HeldStep? { heldSteps == 0 ? nil : ready.lazy.compactMap { $0.heldStep }.first }

    mutating func takeLastHeld() -> HeldStep? {
        ready.firstIndex { $0.heldStep != nil }.flatMap { remove(at: $0).heldStep }
    }

    // MARK: Dispatch queues

    mutating func add(_ queue: SuspendedQueue) {
        queues.append(queue)
    }

    /// Makes each suspended queue a candidate that is not one already.
    mutating func offerDrains() {
        for queue in queues {
            let isOffered = ready.contains { candidate in
                guard case .drain(let offered) = candidate.work else { return false }
                return offered === queue
            }
            if !isOffered { add(.drain(queue), of: queue.participant, as: "drains") }
        }
    }

    /// The same where nothing else can run; returns whether that can bring anything.
    ///
    /// Whether blocks are left cannot be seen. After some drains that did nothing there are none.
    mutating func offerLastDrains() -> Bool {
        guard !queues.isEmpty, idleDrains < SuspendedQueue.longestChain else { return false }
        idleDrains += 1
        offerDrains()
        return true
    }

    // MARK: Timers

    /// The timers that are due next, which is more than one if they are due together.
    private var dueTimers: [Candidate] {
        guard let first = timers.first else { return [] }
        return timers.prefix { $0.deadline <= max(first.deadline, now) }.map { $0.candidate }
    }

    var hasTimers: Bool { !timers.isEmpty }

    /// Adds a timer, and returns its number.
    mutating func addTimer(at deadline: Duration, _ label: String, _ action: Action) -> Int {
        let work = Candidate.Work.timer(at: deadline, action)
        let timer = Candidate(work: work, participant: Participants.clock, label: label, key: nextKey())
        timers.insert((deadline, timer), at: timers.firstIndex { $0.deadline > deadline } ?? timers.count)
        return timer.key.arrival
    }

    mutating func removeTimer(_ number: Int) -> Candidate? {
        timers.firstIndex { $0.candidate.key.arrival == number }.map { timers.remove(at: $0).candidate }
    }

    func label(ofTimer number: Int) -> String? {
        timers.first { $0.candidate.key.arrival == number }?.candidate.label
    }

    mutating func advance(to time: Duration) {
        now = max(now, time)
    }
}
