import AccessTokenContract
import Foundation

/// A design that was published with a bug, written anew, with the bug and without it.
struct ForeignDesign: Sendable, CustomStringConvertible {
    let name: String
    /// The ids of all clauses that it breaks.
    let broken: [String]
    /// The one that its repair mends.
    let repairs: String
    let subject: @Sendable (_ isRepaired: Bool) -> ContractSubject

    init(
        _ name: String,
        broken: [String],
        repairs: String,
        subject: @escaping @Sendable (_ isRepaired: Bool) -> ContractSubject
    ) {
        self.name = name
        self.broken = broken
        self.repairs = repairs
        self.subject = subject
    }

    var description: String { name }
}

/// A token type that is not this package's.
struct ForeignToken: Sendable, Equatable {
    let text: String
    let expiresAt: Date?

    init(_ token: AccessToken) {
        text = token.value
        expiresAt = token.expiration
    }

    var token: AccessToken { AccessToken(value: text, expiration: expiresAt) }
}
