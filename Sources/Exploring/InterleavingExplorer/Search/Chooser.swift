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

/// Follows the beginning of a schedule, then first-in-first-out order but for what is asleep.
@available(Executors, *)
struct PrefixChooser: Chooser {
    /// What is left of the beginning.
    var digits: ArraySlice<UInt8>
    /// What had happened before the last digit when it was first tried.
    var expected: UInt64?
    /// The sleep set: what was tried already in the place of the last digit, and has not been disturbed since.
    var asleep: [Asleep] = []

    var isIncomplete: Bool { !digits.isEmpty }

    mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision {
        guard let digit = digits.first else {
            let awake = keys.firstIndex { key in !asleep.contains { $0.arrival == key.arrival } }
            return awake.map { .take($0) } ?? .prune
        }
        guard keys.count > 1 else { return .take(0) }
        digits.removeFirst()
        if !isIncomplete, let expected, expected != fingerprint {
            return .diverge
        }
        return digit < keys.count ? .take(Int(digit)) : .diverge
    }

    mutating func segmentEnded(_ footprint: Footprint) {
        guard !isIncomplete, !asleep.isEmpty else { return }
        // A sleep set that takes an order for known which the races tell apart would hide the races of that order.
        asleep.removeAll { footprint.wakes($0) }
    }
}

/// Always takes the task of the highest priority; at a few steps that task falls to the lowest.
@available(Executors, *)
struct PriorityChooser: Chooser {
    private var random: SplitMix64
    private var priorities: [Int: Int] = [:]
    private let demotions: [Int]
    private var step = 0
    private var lowest = 0
    let asleep: [Asleep] = []
    let isIncomplete = false

    /// Priorities drawn from a seed, with so many demotions over the expected number of choices.
    init(seed: UInt64, demotions: Int, choices: Int) {
        var random = SplitMix64(state: seed)
        self.demotions = (0..<demotions).map { _ in Int.random(in: 0..<max(1, choices), using: &random) }
        self.random = random
    }

    mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision {
        guard keys.count > 1 else { return .take(0) }
        for key in keys where priorities[key.rank] == nil {
            priorities[key.rank] = Int.random(in: 1...1_000_000, using: &random)
        }
        if demotions.contains(step) {
            lowest -= 1
            priorities[keys[best(of: keys)].rank] = lowest
        }
        step += 1
        return .take(best(of: keys))
    }

    mutating func segmentEnded(_ footprint: Footprint) {}

    private func best(of keys: [Candidate.Key]) -> Int {
        let best = keys.indices.max {
            priorities[keys[$0].rank, default: 0] < priorities[keys[$1].rank, default: 0]
        }
        return best ?? 0
    }
}

/// A small generator whose numbers depend on its seed only.
@available(Executors, *)
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
