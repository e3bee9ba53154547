/// Tokens that were rejected, told apart by their values.
///
/// A rejected token may be good still, for whoever reads it: none is ever printed.
struct RejectedTokens: Sendable, Equatable, CustomReflectable {
    private var values: Set<ExactString> = []
    /// Whether all tokens are rejected, but for one that is stored.
    private var areAll = false

    var count: Int { values.count }

    mutating func insert(_ token: AccessToken) { values.insert(token.secret) }

    /// Rejects all tokens: they are of another session than the one that is stored.
    mutating func insertAll() { areAll = true }

    /// - Parameter stored: the token that is known to be stored.
    func contains(_ token: AccessToken, butFor stored: AccessToken? = nil) -> Bool {
        values.contains(token.secret) || areAll && token.secret != stored?.secret
    }

    /// How many there are, and none of them.
    var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}
