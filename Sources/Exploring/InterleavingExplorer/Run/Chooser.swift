/// Decides which candidate runs.
@available(Executors, *)
protocol Chooser {
    /// The position of the one to run among all candidates, which may be a single one.
    ///
    /// `fingerprint` stands for everything that has happened so far.
    mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision

    /// What can show nothing new until a step has made a difference to it.
    var asleep: [Asleep] { get }

    /// Hears what the segment has touched that was chosen last.
    mutating func segmentEnded(_ footprint: Footprint)

    /// Whether the schedule says that the step has a lock at the next choice, and is not held.
    var isAtLock: Bool { get }

    /// Whether digits of a schedule are left: the run has ended too early.
    var isIncomplete: Bool { get }
}

/// A candidate of a sleep set: its next segment was tried from an equivalent state already.
@available(Executors, *)
struct Asleep: Sendable {
    let arrival: Int
    let footprint: Footprint
    /// What the run knew at that moment, and this one as well.
    let known: Footprint.Known
}

@available(Executors, *)
enum Decision: Sendable {
    case take(Int)
    /// The schedule does not fit.
    case diverge
    /// Whatever comes now has been tried in another order that makes no difference.
    case prune
}
