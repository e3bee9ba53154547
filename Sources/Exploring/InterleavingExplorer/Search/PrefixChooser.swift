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
    var isAtLock: Bool { digits.first == Schedule.lockedPoint }

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
        if digit == Schedule.lockedPoint { return .take(0) }
        return digit < keys.count ? .take(Int(digit)) : .diverge
    }

    mutating func segmentEnded(_ footprint: Footprint) {
        guard !isIncomplete, !asleep.isEmpty else { return }
        // A sleep set that takes an order for known which the races tell apart would hide the races of that order.
        asleep.removeAll { footprint.wakes($0) }
    }
}
