/// A moment of a run at which more than one thing could happen.
@available(Executors, *)
struct Choice: Sendable {
    var digit: UInt8 = 0
    /// What the schedule says of it.
    var scheduleDigit: UInt8 { isLocked ? Schedule.lockedPoint : digit }
    let keys: [Candidate.Key]
    /// What of that is known to bring nothing new.
    var asleep: [Asleep] = []
    /// What the run knew at the moment of the choice, and how many had become ready.
    let known: Footprint.Known
    let start: Int
    /// Stands for everything that had happened before, and for what could have been chosen.
    var fingerprint: UInt64 = 0
    /// Whether time could pass, or a dispatch queue may have got blocks: either may be gone later, and then no run
    /// shows its races.
    let hasTimers: Bool
    /// Whether it is between values for the scenario, and the segment goes on with any of them.
    var isOfValues = false
    /// Whether the step has a lock that others need, and must go on.
    let isLocked: Bool
    /// Whether there was more than a digit of a schedule can say.
    let isTruncated: Bool
    /// What the segment has touched that was chosen; `nil` if it has not come to its end.
    var footprint: Footprint?
    /// Whether nothing that others do can ever depend on the segment: it is a persistent set by itself.
    var isLocal = false

    /// What there is to choose from, at one moment; at a preemption point that is the running step first.
    ///
    /// - Parameter state: is not changed; without the optimizer, a copy is dear.
    init(from state: inout RunState, at point: Candidate.Key?, isLocked: Bool) {
        // When all operations have ended, a timer that fires tells nothing new.
        let isIdle = point == nil && state.candidates.isNothingReady
        let withTimers = !state.unfinished.isEmpty && (isIdle || !state.timeWaitsForOthers)
        var all = state.candidates.keys(withTimers: withTimers)
        if let point { all.insert(point, at: 0) }
        // At a lock they only show what is left out there.
        if isLocked { all += state.candidates.madeReady.map { $0.key } }
        isTruncated = all.count > Schedule.radix
        keys = isTruncated ? Array(all.prefix(Schedule.radix)) : all
        known = state.known
        start = state.candidates.arrivals
        hasTimers = !state.candidates.queues.isEmpty || withTimers && state.candidates.hasTimers
        self.isLocked = isLocked
    }

    /// So many values to choose from, each of which stands for itself.
    init(ofValues count: Int, in state: inout RunState) {
        keys = (0..<count).map { _ in state.candidates.nextKey() }
        known = state.known
        start = state.candidates.arrivals
        (isOfValues, hasTimers, isLocked, isTruncated) = (true, false, false, false)
    }
}
