/// What can run, in the order in which it became ready, and the timers.
@available(Executors, *)
struct Candidates: Sendable {
    struct Timer: Sendable {
        let number: Int
        let deadline: Duration
        let label: String
        let fire: @Sendable () -> Void

        var key: Candidate.Key { Candidate.Key(rank: -number, arrival: number) }
    }

    private var ready: [Candidate] = []
    /// What became ready in the segment that runs now, and can run when it is over.
    private(set) var madeReady: [Candidate] = []
    private var timers: [Timer] = []
    private(set) var now = Duration.zero
    private(set) var queues: [SuspendedQueue] = []
    /// How many have become ready so far.
    private(set) var arrivals = 0

    /// The next index among all that becomes ready.
    mutating func nextArrival() -> Int {
        arrivals += 1
        return arrivals
    }

    // MARK: What is ready

    /// Adds a candidate at the end of the line.
    mutating func add(_ work: Candidate.Work, of participant: Int, as label: String?, rank: Int?, isInStep: Bool) {
        let arrival = nextArrival()
        let key = Candidate.Key(rank: rank ?? -arrival, arrival: arrival)
        let candidate = Candidate(work: work, participant: participant, label: label, key: key)
        if isInStep {
            madeReady.append(candidate)
        } else {
            ready.append(candidate)
        }
    }

    /// Lets run what the segment has made ready that is over.
    mutating func endSegment() {
        ready.append(contentsOf: madeReady)
        madeReady.removeAll(keepingCapacity: true)
    }

    /// Takes out what the segment has made ready, if that is one candidate only.
    mutating func takeOnlyOneMadeReady(where condition: (Candidate) -> Bool) -> Candidate? {
        guard madeReady.count == 1, condition(madeReady[0]) else { return nil }
        return madeReady.removeFirst()
    }

    /// How many can be taken: when all operations have ended, a timer that fires tells nothing new.
    func count(withTimers: Bool) -> Int {
        ready.count + (withTimers ? dueTimers.count : 0)
    }

    var isNothingReady: Bool { ready.isEmpty }

    /// The keys of the first candidates; those of timers come last.
    func keys(atMost width: Int, withTimers: Bool) -> [Candidate.Key] {
        var keys = ready.prefix(width).map { $0.key }
        guard withTimers else { return keys }
        for timer in dueTimers where keys.count < width { keys.append(timer.key) }
        return keys
    }

    /// Takes out the candidate at a position; `nil` if it is no longer the one with this key.
    mutating func take(at position: Int, key: Candidate.Key? = nil) -> Candidate? {
        if position < ready.count {
            guard key.map({ $0.arrival == ready[position].key.arrival }) ?? true else { return nil }
            return ready.remove(at: position)
        }
        let due = dueTimers
        guard position - ready.count < due.count else { return nil }
        let timer = due[position - ready.count]
        guard key.map({ $0.arrival == timer.number }) ?? true else { return nil }
        return Candidate(
            work: .timer(timer.number),
            participant: Participants.clock,
            label: timer.label,
            key: timer.key
        )
    }

    /// Whether a cancellation is ready that would reach a participant.
    func canBeCancelled(_ participant: Int, in participants: Participants) -> Bool {
        ready.contains { candidate in
            guard let target = candidate.cancelled else { return false }
            return participants.ancestry(of: participant).contains(target)
        }
    }

    mutating func removeAll() {
        (ready, timers, queues) = ([], [], [])
    }

    // MARK: Held steps

    /// Puts the step that is held now before all others.
    mutating func hold(_ step: Candidate) {
        ready.insert(step, at: 0)
    }

    /// The step that was held last.
    var lastHeld: HeldStep? {
        ready.lazy.compactMap { $0.heldStep }.first
    }

    /// Takes out the step that was held last.
    mutating func takeLastHeld() -> HeldStep? {
        ready.firstIndex { $0.heldStep != nil }.flatMap { ready.remove(at: $0).heldStep }
    }

    // MARK: Dispatch queues

    mutating func add(_ queue: SuspendedQueue) {
        queues.append(queue)
    }

    /// Makes each suspended queue a candidate that is not one already, and returns whether there is any.
    @discardableResult
    mutating func offerDrains(isInStep: Bool) -> Bool {
        for queue in queues {
            let isOffered = ready.contains { candidate in
                guard case .drain(let offered) = candidate.work else { return false }
                return offered === queue
            }
            if !isOffered { add(.drain(queue), of: queue.participant, as: "drains", rank: nil, isInStep: isInStep) }
        }
        return !queues.isEmpty
    }

    // MARK: Timers

    /// The timers that are due next, which is more than one if they are due together.
    private var dueTimers: ArraySlice<Timer> {
        guard let first = timers.first else { return [] }
        return timers.prefix { $0.deadline <= max(first.deadline, now) }
    }

    var hasTimers: Bool { !timers.isEmpty }

    /// Adds a timer, in order of deadlines and then of arrival, and returns its number.
    mutating func addTimer(at deadline: Duration, _ label: String, _ fire: @escaping @Sendable () -> Void) -> Int {
        let timer = Timer(number: nextArrival(), deadline: deadline, label: label, fire: fire)
        timers.insert(timer, at: timers.firstIndex { $0.deadline > deadline } ?? timers.count)
        return timer.number
    }

    /// Takes a timer away, if it is still there.
    mutating func removeTimer(_ number: Int) -> Timer? {
        timers.firstIndex { $0.number == number }.map { timers.remove(at: $0) }
    }

    mutating func advance(to time: Duration) {
        now = max(now, time)
    }
}
