import AccessTokenContract

/// A design that was published with a bug, written anew, with the bug and without it.
struct ForeignDesign: Sendable, CustomStringConvertible {
    /// The ids of all clauses that it breaks.
    let broken: [String]
    /// The one that its repair mends.
    let repairs: String
    let subject: @Sendable (_ isRepaired: Bool) -> ContractSubject

    var description: String { subject(false).name }
}
