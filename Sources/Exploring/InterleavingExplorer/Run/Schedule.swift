/// Which candidate ran at each choice, as a short string that replays a run.
///
/// Each choice is a base-36 digit: `0` for the candidate that had waited longest. A `.` stands where a step has a lock
/// that others need, and so is not held. Zeros at the end are left out. A `+` comes first where asking for an
/// actor and entering it are two steps, and then a `_` where no step is held in its middle. A schedule belongs to one
/// scenario and one build configuration, since the optimizer removes steps.
@available(Executors, *)
public struct Schedule: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The greatest number of candidates that a digit can tell apart.
    static let radix = 36

    /// Stands among the digits for a choice that there was not, since the step has a lock that others need.
    ///
    /// Another process, which does not know the lines with locks, passes that point in the same way.
    static let lockedPoint = UInt8(radix)

    /// What a step is in the run of a schedule.
    struct Steps: Sendable, Hashable {
        /// Whether asking for an actor and entering it are two steps; if not, a task that has touched nothing enters at
        /// once.
        var entersActorsLater = false
        /// Whether a step may be held in its middle.
        var preempts = true

        /// What a schedule begins with.
        var marks: String { (entersActorsLater ? "+" : "") + (preempts ? "" : "_") }
    }

    let digits: [UInt8]
    let steps: Steps

    init(digits: some Sequence<UInt8>, of steps: Steps = Steps()) {
        var digits = Array(digits)
        while digits.last == 0 { digits.removeLast() }
        self.digits = digits
        self.steps = steps
    }

    /// The schedule that a string describes.
    ///
    /// **Failure.** `nil` if the string holds anything but `0`–`9`, `a`–`z`, `A`–`Z` and `.`, behind `+`, `_`, `+_` or
    /// nothing.
    public init?(parsing string: some StringProtocol) {
        var digits: [UInt8] = []
        let entersActorsLater = string.first == "+"
        let unmarked = string.dropFirst(entersActorsLater ? 1 : 0)
        let preempts = unmarked.first != "_"
        for character in unmarked.dropFirst(preempts ? 0 : 1) {
            let digit = character == "." ? Schedule.lockedPoint : UInt8(String(character), radix: Schedule.radix)
            guard let digit else { return nil }
            digits.append(digit)
        }
        self.init(digits: digits, of: Steps(entersActorsLater: entersActorsLater, preempts: preempts))
    }

    /// The number of choices at which first-in-first-out order was not kept.
    public var delays: Int {
        digits.count(where: Schedule.isDelay)
    }

    /// The schedule that a literal describes, which must consist of base-36 digits.
    public init(stringLiteral value: String) {
        guard let schedule = Schedule(parsing: value) else {
            preconditionFailure("\"\(value)\" is no schedule: base-36 digits and dots are expected, behind +, _ or +_")
        }
        self = schedule
    }

    /// The digits; `0` if there are none.
    public var description: String {
        let characters = digits.isEmpty ? [Schedule.character(of: 0)] : digits.map(Schedule.character)
        return steps.marks + String(decoding: characters, as: UTF8.self)
    }

    /// Whether another candidate ran than the one that had waited longest.
    static func isDelay(_ digit: UInt8) -> Bool { digit != 0 && digit != lockedPoint }

    static func character(of digit: UInt8) -> UInt8 {
        if digit == lockedPoint { return UInt8(ascii: ".") }
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
