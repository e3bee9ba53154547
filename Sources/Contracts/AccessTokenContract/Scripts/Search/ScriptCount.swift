/// How much was looked at: what a clause that was kept was tried in.
public struct ScriptCount: Sendable, CustomStringConvertible {
    /// How many scripts were played.
    public internal(set) var scripts = 0

    /// How many steps these scripts had.
    public internal(set) var steps = 0

    /// How many kinds of steps were taken in how many states of a service, each pair counted once.
    public var situations: Int { seen.count }

    /// The seed that repeats the search.
    public internal(set) var seed: UInt64 = 0

    /// How many scripts were left out, since the subject breaks too much or blocks too many threads.
    var notPlayed = 0

    /// How many scripts broke a clause in haste, and did not when they were given more time.
    var unconfirmed = 0

    /// The clauses of which scripts say nothing, since the subject did what it owed after its time limit.
    var tooSlowFor: Set<ClauseID> = []

    private var seen: Set<Situation> = []

    mutating func add(_ outcome: ScriptOutcome) {
        scripts += 1
        steps += outcome.script.steps.count
        seen.formUnion(outcome.situations)
    }

    /// The counts, and what scripts could not judge, in one line.
    public var description: String {
        let counts = "\(scripts) scripts of \(steps) steps in \(situations) situations, seed \(seed)"
        let left = notPlayed == 0 ? "" : "; \(notPlayed) scripts not played and not judged: mend what is broken first"
        let once =
            unconfirmed == 0 ? "" : "; \(unconfirmed) seemed to break a clause in haste, and broke none with more time"
        let slow = tooSlowFor.sorted().list
        return counts + left + once
            + (slow.isEmpty ? "" : "; too slow to be judged in \(slow): give a longer timeLimit:")
    }
}
