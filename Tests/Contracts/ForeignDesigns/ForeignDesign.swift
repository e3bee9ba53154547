import AccessTokenContract

/// A design that was published with a bug, written anew, with the bug and without it.
struct ForeignDesign: Sendable, CustomStringConvertible {
    let description: String
    /// The ids of all clauses that it breaks.
    let broken: [String]
    /// The one that its repair mends.
    let repairs: String
    let subject: @Sendable (_ isRepaired: Bool) -> ContractSubject

    init(
        _ description: String,
        broken: [String],
        repairs: String,
        subject: @escaping @Sendable (_ isRepaired: Bool) -> ContractSubject
    ) {
        self.description = description
        self.broken = broken
        self.repairs = repairs
        self.subject = subject
    }
}
