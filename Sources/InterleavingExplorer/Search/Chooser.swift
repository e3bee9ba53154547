/// Decides which candidate runs.
protocol Chooser {
    /// The position of the one to run among all candidates, which may be a single one.
    ///
    /// `fingerprint` stands for everything that has happened so far.
    mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision

    /// The arrivals of what can show nothing new until a step has made a difference to it.
    var asleep: [Int] { get }

    /// Hears what others could notice of the step that was chosen.
    mutating func stepEnded(_ visibility: Visibility)
}

/// What a chooser has decided.
enum Decision: Sendable {
    case take(Int)
    /// The schedule does not fit.
    case diverge
    /// Whatever comes now has been tried in another order that makes no difference.
    case prune
}

/// Follows the beginning of a schedule, then first-in-first-out order but for what is asleep.
struct PrefixChooser: Chooser {
    let digits: [UInt8]
    /// What had happened before the last digit when it was first tried.
    let expected: UInt64?
    /// The arrivals of what was tried already in the place of the last digit.
    ///
    /// If that digit turns out to stand for a step that makes no difference to them, they stay asleep until
    /// something happens that does.
    private(set) var asleep: [Int]
    private var position = 0
    /// Whether the last step was a choice.
    private var isChoice = false

    init(digits: [UInt8], expected: UInt64? = nil, asleep: [Int] = []) {
        self.digits = digits
        self.expected = expected
        self.asleep = asleep
    }

    /// Whether digits are left: the run has ended too early.
    var isIncomplete: Bool {
        position < digits.count
    }

    mutating func choose(among keys: [Candidate.Key], fingerprint: UInt64) -> Decision {
        isChoice = keys.count > 1
        guard isIncomplete else {
            let awake = keys.firstIndex { !asleep.contains($0.arrival) }
            return awake.map { .take($0) } ?? .prune
        }
        guard isChoice else { return .take(0) }
        let digit = Int(digits[position])
        position += 1
        if position == digits.count, let expected, expected != fingerprint {
            return .diverge
        }
        return digit < keys.count ? .take(digit) : .diverge
    }

    mutating func stepEnded(_ visibility: Visibility) {
        if !isIncomplete, visibility == .noticeable {
            asleep = []
        }
    }
}
