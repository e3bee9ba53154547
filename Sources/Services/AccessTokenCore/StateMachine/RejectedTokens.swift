import AccessTokenFoundation

/// Tokens that were rejected, told apart by their values.
///
/// A rejected token may be good still, for whoever reads it: none is ever printed.
struct RejectedTokens: Sendable, Equatable, CustomReflectable {
    private var values: Set<ExactString> = []
    /// Whether all tokens are rejected but those values.
    private var areExceptions = false

    /// How many there are, or how many are not.
    var count: Int { values.count }

    mutating func insert(_ token: AccessToken) {
        if areExceptions { values.remove(token.secret) } else { values.insert(token.secret) }
    }

    /// Rejects all tokens but this one, unless it is rejected already.
    mutating func insertAll(but token: AccessToken?) {
        let exceptions = token.flatMap { contains($0) ? nil : $0.secret }
        (values, areExceptions) = (Set(exceptions.map { [$0] } ?? []), true)
    }

    func contains(_ token: AccessToken) -> Bool { values.contains(token.secret) != areExceptions }

    /// How many there are, and none of them.
    var customMirror: Mirror {
        Mirror(self, children: [areExceptions ? "all but" : "count": count])
    }
}
