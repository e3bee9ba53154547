import AccessTokenOAuth

/// A server that is described on the command line.
struct OwnServer {
    static let options = ["--tokens-in", "--type", "--when"]

    /// By the names that Swift code has for them.
    static let meanings = ReplyMeaning.allCases.map { (name: "\($0)", meaning: $0) }

    private var tokensIn: String?
    private var types: Set<String> = []
    private var rules: [ReplyRule] = []

    /// `nil` if nothing was said of it.
    var server: KnownServer? {
        guard tokensIn != nil || !types.isEmpty || !rules.isEmpty else { return nil }
        return KnownServer("your own", tokensIn: tokensIn, tokenTypes: types, rules: rules, deviceRules: rules)
    }

    /// Whether the option and its value make sense.
    mutating func read(_ option: String, _ value: String) -> Bool {
        guard !value.isEmpty else { return false }
        switch option {
        case "--tokens-in": tokensIn = value
        case "--type": types.insert(value)
        default:
            guard let rule = Self.rule(value) else { return false }
            rules.append(rule)
        }
        return true
    }

    /// The last colon is before the meaning: a value may have others.
    private static func rule(_ text: String) -> ReplyRule? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let (condition, name) = (text[..<colon], text[text.index(after: colon)...])
        guard let meaning = meanings.first(where: { $0.name == name })?.meaning else { return nil }
        if let status = Int(condition) { return .when(status: status, means: meaning) }
        let parts = condition.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        return .when(String(parts[0]), is: String(parts[1]), means: meaning)
    }
}
