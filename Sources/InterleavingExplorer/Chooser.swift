/// Decides which candidate runs.
protocol Chooser {
    /// The position of the one to run, of `candidates`, which are at least two; by the ranks of the candidates.
    ///
    /// `fingerprint` stands for everything that has happened so far. `nil` if the schedule does not fit.
    mutating func choose(among ranks: [Int], fingerprint: UInt64) -> Int?
}

/// Follows the beginning of a schedule, then first-in-first-out order.
struct PrefixChooser: Chooser {
    let digits: [UInt8]
    /// What had happened before the last digit when it was first tried.
    let expected: UInt64?
    private var position = 0

    init(digits: [UInt8], expected: UInt64? = nil) {
        self.digits = digits
        self.expected = expected
    }

    /// Whether digits are left: the run has ended too early.
    var isIncomplete: Bool {
        position < digits.count
    }

    mutating func choose(among ranks: [Int], fingerprint: UInt64) -> Int? {
        guard position < digits.count else { return 0 }
        let digit = Int(digits[position])
        position += 1
        if position == digits.count, let expected, expected != fingerprint {
            return nil
        }
        return digit < ranks.count ? digit : nil
    }
}

/// Always takes the task of the highest priority; at a few steps that task falls to the lowest.
struct PriorityChooser: Chooser {
    private var random: SplitMix64
    private var priorities: [Int: Int] = [:]
    private var demotions: [Int]
    private var step = 0
    private var lowest = 0

    /// Priorities drawn from a seed, with so many demotions over the expected number of choices.
    init(seed: UInt64, demotions: Int, choices: Int) {
        var random = SplitMix64(state: seed)
        self.demotions = (0..<demotions).map { _ in Int.random(in: 0..<max(1, choices), using: &random) }
        self.random = random
    }

    mutating func choose(among ranks: [Int], fingerprint: UInt64) -> Int? {
        for rank in ranks where priorities[rank] == nil {
            priorities[rank] = Int.random(in: 1...1_000_000, using: &random)
        }
        if demotions.contains(step), let first = best(of: ranks) {
            lowest -= 1
            priorities[ranks[first]] = lowest
        }
        step += 1
        return best(of: ranks)
    }

    private func best(of ranks: [Int]) -> Int? {
        ranks.indices.max { priorities[ranks[$0], default: 0] < priorities[ranks[$1], default: 0] }
    }
}

/// A small generator whose numbers depend on its seed only.
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
