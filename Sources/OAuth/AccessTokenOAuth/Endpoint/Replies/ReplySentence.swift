/// A sentence by which a server says to a person why there is no token.
///
/// Many servers have no word for a dead refresh token, or hide it behind `invalid_request`. Their sentences are alike:
/// the refresh token, and what is wrong with it, a few words apart. Whatever is in between must not speak of something
/// else, such as the client or the kind of grant. A sentence is looked at where no word decides.
struct ReplySentence {
    private static let longestText = 600

    private let words: [String]

    init(_ text: String) {
        var words: [String] = []
        var word = ""
        var last: Character?
        // What comes later says nothing more.
        for character in text.prefix(Self.longestText) {
            // "RefreshTokenExpired" are three words.
            let begins = character.isUppercase && last?.isLowercase == true
            if begins || !(character.isLetter || character.isNumber), !word.isEmpty {
                words.append(word)
                word = ""
            }
            if character.isLetter || character.isNumber { word += character.lowercased() }
            last = character
        }
        if !word.isEmpty { words.append(word) }
        self.words = words
    }

    // MARK: Later

    /// Each is a few words in a row.
    private static let passing: [[String]] = [
        "too many requests", "too many attempts", "too many calls", "too many concurrent", "too many times",
        "too many tokens", "too many token", "too many login", "rate limit", "rate limited", "rate limiting",
        "rate exceeded", "ratelimit", "request limit", "quota exceeded", "limit exceeded", "limit reached",
        "throttled", "throttling", "try again later", "try again after", "try again in", "retry later",
        "please retry", "later again", "temporarily", "service unavailable", "currently unavailable",
        "is unavailable", "being processed", "in progress", "concurrent", "concurrently", "another request",
        "internal error", "internal server error", "server error", "unknown error", "unexpected error",
        "backend error", "system error", "system busy", "server busy", "is busy", "overloaded", "request timeout",
        "gateway timeout", "timed out waiting", "request timed out", "under maintenance", "down for maintenance",
        "transient error", "server unavailable", "throttle exceeded", "frequency limit", "reach limit",
        "limit has been reached", "limit was reached",
        "error code 1015",
        "not expired", "not yet expired", "has not expired", "request loop", "aadsts50196",
    ].map { $0.split(separator: " ").map(String.init) }

    /// Whether the server says that the same request may succeed later.
    var saysLater: Bool { Self.passing.contains { has($0) } }

    // MARK: The user

    private static let userSteps: [[String]] = [
        "mfa", "multifactor authentication", "multi factor authentication", "two factor authentication", "2fa",
        "consent", "interaction", "reauthentication", "re authentication", "reauth", "reauthorization", "login",
        "mfa enrollment", "mfa registration", "password change", "password reset",
    ].map { $0.split(separator: " ").map(String.init) }

    private static let invitations: [[String]] = [
        "log in again", "login again", "sign in again", "signin again", "relogin", "re login", "reauthenticate",
        "re authenticate", "reauthorize", "re authorize", "authorize again", "authenticate again", "reconnect",
    ].map { $0.split(separator: " ").map(String.init) }

    /// Whether the server says that the user has to do something there: "MFA is required", "please log in again".
    var saysThatUserIsNeeded: Bool {
        Self.invitations.contains { has($0) }
            || Self.userSteps.contains { step in
                ["required", "needed"].contains { has(step + [$0]) || has(step + ["is", $0]) }
            }
    }

    // MARK: The refresh token

    /// What stands right before a token that is dead: "invalid refresh token".
    private static let deadBefore: Set = [
        "invalid", "expired", "revoked", "unknown", "bad", "incorrect", "wrong", "unrecognized", "unrecognised",
        "inactive", "illegal", "nonexistent", "stale", "consumed",
    ]
    /// What stands a few words behind it: "the refresh token has been revoked".
    private static let deadBehind = deadBefore.union([
        "used", "reused", "deleted", "blacklisted", "rejected", "terminated", "mismatch", "ended", "deactivated",
        "invalidated", "removed", "cancelled", "canceled",
        "reuse",
    ])
    /// What is wrong with a token that is *not* so.
    private static let alive: Set = [
        "valid", "found", "exist", "exists", "recognized", "recognised", "active", "known", "correct", "longer",
        "match",
    ]
    /// What may stand between the two.
    private static let fillers: Set = ["access", "or", "and", "oauth", "oauth2", "missing", "provided", "supplied"]
    private static let negations: Set = ["not", "no", "cannot", "doesn", "isn", "wasn", "couldn", "never"]
    /// Here the sentence goes on about something else, or about what is not the case.
    private static let ends: Set = [
        "grant", "type", "parameter", "parameters", "field", "endpoint", "url", "uri", "flow", "format", "client",
        "scope", "scopes", "secret", "must", "should", "can", "if", "when", "required", "missing", "supported",
        "allowed", "enabled", "issuer", "exchange", "being", "currently", "before", "until",
    ]
    /// Where a server looks for the token: what is missing there says nothing of the token itself.
    private static let partsOfRequest: Set = [
        "request", "body", "payload", "header", "headers", "cookie", "cookies", "form", "query", "json",
    ]
    /// By these a sentence says how the parameter is to be written: "expected string, received undefined".
    private static let unwritten: Set = ["expected", "empty", "blank", "null", "undefined"]
    /// Words from a token to what is wrong with it.
    private static let reach = 8

    /// Whether the server says that the refresh token, or the session, is no good any more.
    var saysThatSessionEnded: Bool { saysThatSessionEnded(orNamesNoToken: true) }

    /// Whether the server says so of the refresh token by its name: a proxy has sessions and tokens of its own.
    var saysThatRefreshTokenIsDead: Bool { saysThatSessionEnded(orNamesNoToken: false) }

    private func saysThatSessionEnded(orNamesNoToken takesOthers: Bool) -> Bool {
        words.indices.contains { index in
            switch words[index] {
            case "refreshtoken": isDead(index...index, behind: Self.deadBehind)
            case "token" where index > 0 && words[index - 1] == "refresh":
                isDead((index - 1)...index, behind: Self.deadBehind)
            // Without a word that says which: not the access token, nor that of the client.
            case "token"
            where takesOthers && stands(at: index, behind: ["the", "this", "your", "provided", "supplied", "given"]):
                isDead(index...index, behind: ["invalid", "expired", "revoked", "inactive"])
            case "session" where takesOthers && stands(at: index, behind: ["the", "this", "your", "user", "no"]):
                isDead(index...index, behind: Self.deadBehind.subtracting(["used", "reused", "unknown"]))
            default: false
            }
        }
    }

    /// Whether a word begins the sentence, or stands behind one of these or behind what says that it is dead.
    private func stands(at index: Int, behind articles: Set<String>) -> Bool {
        guard index > 0 else { return true }
        return articles.contains(words[index - 1]) || Self.deadBefore.contains(words[index - 1])
    }

    private func isDead(_ subject: ClosedRange<Int>, behind: Set<String>) -> Bool {
        let rest = words.dropFirst(subject.upperBound + 1).prefix(Self.reach)
        guard rest.first.map({ !Self.ends.contains($0) && !Self.partsOfRequest.contains($0) }) ?? true,
            Self.unwritten.isDisjoint(with: rest)
        else { return false }
        if isDeadBefore(subject.lowerBound) { return true }
        let before = words.prefix(subject.lowerBound).last
        // "No refresh token found" says that none has come. A session does not come with the request.
        let isNone = before == "no" || before == "missing"
        guard !isNone || words[subject.lowerBound] == "session" else { return false }
        var isNegated = isNone
        for (index, word) in zip(rest.indices, rest) {
            if Self.ends.contains(word) { return false }
            if Self.negations.contains(word) { isNegated = true }
            let isGood = Self.alive.contains(word)
            // "has not been used" is no reason to end a session.
            if isGood && isNegated || behind.contains(word) {
                return isNegated == isGood && !isOfParameter(at: index)
            }
        }
        return false
    }

    /// Whether the word that is wrong with a token is said of its parameter: "not found in the request body", "not a
    /// valid UUID", or of a token that will be good: "not active yet".
    private func isOfParameter(at index: Int) -> Bool {
        let next = words.dropFirst(index + 1)
        guard let first = next.first else { return false }
        if ["in", "within", "inside", "on", "from", "with"].contains(first) {
            return next.dropFirst().prefix(4).contains(where: Self.partsOfRequest.contains)
        }
        let isOfNoun = ["a", "an"].contains(words[index - 1]) && !["refresh", "token", "session"].contains(first)
        return first == "yet" || isOfNoun
    }

    /// "invalid refresh token", "expired access or refresh token", "no such refresh token", "not a valid refresh
    /// token".
    private func isDeadBefore(_ index: Int) -> Bool {
        let before = words.prefix(index).suffix(Self.reach)
        guard let close = before.lastIndex(where: { !Self.fillers.contains($0) }) else { return false }
        let nearest = before[...close].dropLast().suffix(2)
        // "cannot renew revoked token" says of the verb that it is not so, and "not an expired token" of the token.
        let isNegated =
            nearest.last.map { Self.negations.contains($0) || ["a", "an", "the"].contains($0) } == true
            && nearest.contains(where: Self.negations.contains)
        return isNegated
            ? ["valid", "such", "active", "known"].contains(words[close]) : Self.deadBefore.contains(words[close])
    }

    // MARK: A device that polls

    /// What a sentence says of the user's decision: "deviceauth_authorization_pending", "the code has expired".
    var meaningForDevice: ReplyMeaning? {
        if words.contains("pending") { return .notYet }
        if words.contains("expired"), !words.contains(where: Self.negations.contains) { return .codeExpired }
        return words.contains("declined") ? .denied : nil
    }

    private func has(_ phrase: [String]) -> Bool {
        guard phrase.count <= words.count else { return false }
        return (0...(words.count - phrase.count)).contains { words[$0..<($0 + phrase.count)].elementsEqual(phrase) }
    }
}
