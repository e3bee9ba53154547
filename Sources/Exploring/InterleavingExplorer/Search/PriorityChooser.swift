/// Always takes the task of the highest priority; at a few steps that task falls to the lowest.
@available(Executors, *)
struct PriorityChooser: Chooser {
    private var random: SplitMix64
    private var priorities: [Int: Int] = [:]
    private let demotions: [Int]
    private var step = 0
    private var lowest = 0
    let asleep: [Asleep] = []
    let isAtLock = false
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
