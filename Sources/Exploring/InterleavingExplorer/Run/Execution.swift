/// What a run was like, as far as the search must know.
@available(Executors, *)
struct Execution: Sendable {
    var choices: [Choice] = []
    var events: [Event] = []
    var steps = 0
    /// Whether there were more candidates at some moment than a digit can tell apart.
    var isTruncated = false
    /// Whether the run, or a step of it, was so long that it came to its end in first-in-first-out order.
    var isEndedInOrder = false
    var findings = RunState.Findings()
    /// The steps in which tasks have begun out of sight, or meanwhile on another thread.
    var missed: [(step: Int, ids: [UInt64])] = []
    /// Whether the run was given up, mostly because it can show nothing new.
    var isPruned = false
    /// Whether the run was given up because a thread seemed to wait for a lock that a held step has.
    var hasMetLock = false
    var lockSites: [Int] = []
    /// Whether the run has failed before everything had happened.
    var hasEndedEarly = false
    /// Stands for everything that has happened.
    var fingerprint: UInt64 = 0xcbf2_9ce4_8422_2325

    var digits: [UInt8] { choices.map { $0.scheduleDigit } }

    mutating func mix(_ value: Int) {
        fingerprint = (fingerprint ^ UInt64(truncatingIfNeeded: value)) &* 0x0000_0100_0000_01b3
    }
}

/// A segment of a run, as it is looked at afterwards.
@available(Executors, *)
struct Event: Sendable {
    /// What a candidate is known by, see ``Candidate/Key``.
    var arrival = 0
    /// How many had become ready in the run when the segment began.
    var start = 0
    /// The choice that it followed from; `nil` if nothing else could run.
    var choice: Int?
    var footprint = Footprint()
}
