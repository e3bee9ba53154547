/// What a clause is tried in: where the token came from, why a load is running, which two events meet.
package protocol ClauseSituation: Sendable {
    /// What reports call it: a short sentence without its full stop.
    var name: String { get }
}

extension ClauseSituation where Self: RawRepresentable, RawValue == String {
    package var name: String { rawValue }
}
