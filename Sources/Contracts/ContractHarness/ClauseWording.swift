/// What a clause says, apart from how the clause is tried: the words of reports and of the documentation's tables.
public struct ClauseWording: Sendable, Identifiable, CustomStringConvertible {
    /// The clause's id, such as `S1`.
    public let id: ClauseID

    /// How bad it is to break the clause.
    public let severity: ContractSeverity

    /// What the subject MUST do, or SHOULD if the clause is a convention.
    public let must: String

    /// What happens to users of a subject that does not: the reason for the severity.
    public let intent: String

    /// What usually mends a subject that breaks the clause.
    public let remedy: String

    /// A published bug of this kind, if there is a known one.
    public let resembles: String?

    /// What the clause cannot see from outside of the subject, if that is easily taken for granted.
    public let unseen: String?

    /// Good subjects differ in this: breaking it is advice, unless the subject promises it.
    public let isConvention: Bool

    package let file: String
    package let line: Int

    /// The id and what the subject must do.
    public var description: String { "\(id): \(must)" }
}

/// How bad it is to break a clause.
public enum ContractSeverity: String, Sendable, Comparable, CaseIterable {
    /// A user or developer is surprised, and nothing is lost.
    case minor
    /// Requests fail or are slow without need, or the server is asked without need.
    case serious
    /// A user is signed out, acts for another user, or waits for ever.
    case critical

    /// By how bad it is.
    public static func < (one: ContractSeverity, other: ContractSeverity) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}
