/// Tokens that were rejected, told apart by their values.
///
/// A rejected token may be good still, for whoever reads it: none is ever printed.
struct RejectedTokens: Sendable, CustomReflectable {
    private var values: Set<ExactString> = []

    var count: Int { values.count }

    mutating func insert(_ token: AccessToken) { values.insert(token.secret) }

    func contains(_ token: AccessToken) -> Bool { values.contains(token.secret) }

    /// How many there are, and none of them.
    var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}
