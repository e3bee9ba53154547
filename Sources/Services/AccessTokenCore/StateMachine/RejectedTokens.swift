/// Tokens that were rejected since a load was started, and that its loader was not told of.
///
/// A rejected token may be good still, for whoever reads it: it is never printed.
struct RejectedTokens: Sendable, CustomReflectable {
    private var values: Set<String> = []

    mutating func insert(_ token: AccessToken) { values.insert(token.value) }

    func contains(_ token: AccessToken) -> Bool { values.contains(token.value) }

    /// How many there are, and none of them.
    var customMirror: Mirror { Mirror(self, children: ["count": values.count]) }
}
