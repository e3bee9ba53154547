/// Which candidate ran at each choice, as a short string that replays a run.
///
/// Each choice is a base-36 digit: `0` for the candidate that had waited longest. Zeros at the end are left out. A `+` comes
/// first where asking for an actor and entering it are two steps. A schedule belongs to one scenario and one build
/// configuration, since the optimizer removes steps.
@available(Executors, *)
public struct Schedule: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The greatest number of candidates that a digit can tell apart.
    static let radix = 36
    /// What comes first where asking for an actor and entering it are two steps.
    static let mark: Character = "+"

    let digits: [UInt8]
    let entersActorsLater: Bool

    init(digits: some Sequence<UInt8>, entersActorsLater: Bool = false) {
        var digits = Array(digits)
        while digits.last == 0 {
            digits.removeLast()
        }
        self.digits = digits
        self.entersActorsLater = entersActorsLater
    }

    /// The schedule that a string describes.
    ///
    /// **Failure.** `nil` if the string holds anything but `0`–`9`, `a`–`z` and `A`–`Z`, behind one `+` or none.
    public init?(parsing string: some StringProtocol) {
        var digits: [UInt8] = []
        let entersActorsLater = string.first == Schedule.mark
        for character in string.dropFirst(entersActorsLater ? 1 : 0) {
            guard let digit = UInt8(String(character), radix: Schedule.radix) else { return nil }
            digits.append(digit)
        }
        self.init(digits: digits, entersActorsLater: entersActorsLater)
    }

    /// The number of choices at which first-in-first-out order was not kept.
    public var delays: Int {
        digits.count { $0 != 0 }
    }

    /// The schedule that a literal describes, which must consist of base-36 digits.
    public init(stringLiteral value: String) {
        guard let schedule = Schedule(parsing: value) else {
            preconditionFailure("\"\(value)\" is no schedule: base-36 digits are expected, behind a + or none")
        }
        self = schedule
    }

    /// The digits; `0` if there are none.
    public var description: String {
        let mark = entersActorsLater ? String(Schedule.mark) : ""
        let characters = digits.isEmpty ? [Schedule.character(of: 0)] : digits.map(Schedule.character)
        return mark + String(decoding: characters, as: UTF8.self)
    }

    static func character(of digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}

/// What one schedule has led to.
@available(Executors, *)
public struct Replay: Sendable, CustomStringConvertible {
    /// The steps, by name.
    public let trace: Trace
    /// What went wrong, if anything did.
    public let failure: ScenarioFailure?

    /// The failure, with the steps that led to it; the steps alone if all holds.
    public var description: String {
        failure?.description ?? trace.description
    }
}
