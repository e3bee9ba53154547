/// Which candidate ran at each choice, as a short string that replays a run.
///
/// Each choice is a base-36 digit: `0` for the candidate that had waited longest. Zeros at the end are left out. A `+`
/// comes first where asking for an actor and entering it are two steps, and then a `_` where no step is held in its
/// middle. A schedule belongs to one scenario and one build configuration, since the optimizer removes steps.
@available(Executors, *)
public struct Schedule: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The greatest number of candidates that a digit can tell apart.
    static let radix = 36

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
        while digits.last == 0 {
            digits.removeLast()
        }
        self.digits = digits
        self.steps = steps
    }

    /// The schedule that a string describes.
    ///
    /// **Failure.** `nil` if the string holds anything but `0`–`9`, `a`–`z` and `A`–`Z`, behind `+`, `_`, `+_` or
    /// nothing.
    public init?(parsing string: some StringProtocol) {
        var digits: [UInt8] = []
        let entersActorsLater = string.first == "+"
        let unmarked = string.dropFirst(entersActorsLater ? 1 : 0)
        let preempts = unmarked.first != "_"
        for character in unmarked.dropFirst(preempts ? 0 : 1) {
            guard let digit = UInt8(String(character), radix: Schedule.radix) else { return nil }
            digits.append(digit)
        }
        self.init(digits: digits, of: Steps(entersActorsLater: entersActorsLater, preempts: preempts))
    }

    /// The number of choices at which first-in-first-out order was not kept.
    public var delays: Int {
        digits.count { $0 != 0 }
    }

    /// The schedule that a literal describes, which must consist of base-36 digits.
    public init(stringLiteral value: String) {
        guard let schedule = Schedule(parsing: value) else {
            preconditionFailure("\"\(value)\" is no schedule: base-36 digits are expected, behind +, _ or +_")
        }
        self = schedule
    }

    /// The digits; `0` if there are none.
    public var description: String {
        let characters = digits.isEmpty ? [Schedule.character(of: 0)] : digits.map(Schedule.character)
        return steps.marks + String(decoding: characters, as: UTF8.self)
    }

    static func character(of digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
