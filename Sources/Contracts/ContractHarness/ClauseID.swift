/// The name of a clause, such as `S1`: what reports, promises and tests call it.
///
/// Each contract declares its own beside the clause that has the name.
public struct ClauseID: Hashable, Comparable, Sendable, RawRepresentable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name as reports print it.
    public let rawValue: String

    /// Creates an id from the name as reports print it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates an id from a literal such as `"S1"`.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The name as reports print it.
    public var description: String { rawValue }

    /// In alphabetical order.
    public static func < (one: ClauseID, other: ClauseID) -> Bool { one.rawValue < other.rawValue }
}

extension Sequence<ClauseID> {
    /// The names, separated by commas.
    package var list: String { map(\.rawValue).joined(separator: ", ") }
}
