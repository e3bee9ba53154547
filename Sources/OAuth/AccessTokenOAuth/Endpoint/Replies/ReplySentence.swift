/// A sentence by which a server says to a person why there is no token.
///
/// Many servers have no word for a dead refresh token, or hide it behind `invalid_request`. Their sentences are alike:
/// the refresh token, and what is wrong with it, a few words apart. A word that is not known here, before the token or
/// in between, may speak of something else, such as the client, a route, or the kind of grant: such a sentence ends no
/// session. A sentence is looked at where no word decides.
struct ReplySentence {
    private static let longestText = 600

    private let words: [String]
    /// The words, and between them "." where a clause ends, ":" before what explains it, and "/" before a path's part.
    private let parts: [String]

    init(_ text: String) {
        var parts: [String] = []
        var word = ""
        var last: Character?
        // What comes later says nothing more.
        for character in text.prefix(Self.longestText) {
            // "RefreshTokenExpired" are three words.
            let begins = character.isUppercase && last?.isLowercase == true
            if begins || !(character.isLetter || character.isNumber), !word.isEmpty {
                parts.append(word)
                word = ""
            }
            switch character {
            case _ where character.isLetter || character.isNumber: word += character.lowercased()
            case _ where character.isNewline || ".,;!?()".contains(character): parts.append(".")
            case ":": parts.append(":")
            // "expired access/refresh token"
            case "/" where parts.last != "access": parts.append("/")
            default: break
            }
            last = character
        }
        if !word.isEmpty { parts.append(word) }
        self.parts = parts
        words = parts.filter { ![".", ":", "/"].contains($0) }
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
    private static let negations: Set = ["not", "no", "cannot", "doesn", "isn", "wasn", "couldn", "never"]
    /// What may stand between "invalid" and the token.
    private static let fillers: Set = ["access", "or", "and", "oauth", "oauth2", "missing", "provided", "supplied"]
    /// What may stand in front of a token that something is said of: "the provided value for the input parameter".
    private static let introductions: Set = [
        "the", "this", "that", "your", "a", "an", "no", "missing", "user", "s", "old", "current", "previous",
        "provided", "supplied", "given", "passed", "sent", "presented", "submitted", "specified", "received", "access",
        "or", "and", "oauth", "oauth2", "value", "for", "of", "input", "parameter", "error", "err", "because", "either",
    ]
    /// What may stand between a token and what is wrong with it: "that you sent has already been".
    private static let links: Set = [
        "is", "was", "are", "were", "has", "have", "had", "been", "be", "does", "do", "did", "could", "t", "it", "a",
        "an", "the", "this", "that", "which", "you", "user", "already", "now", "also", "either", "or", "and", "any",
        "more", "longer", "anymore", "provided", "supplied", "given", "passed", "sent", "presented", "submitted",
        "specified", "received", "value", "error", "old", "because",
    ]
    /// How a sentence may go on behind what is wrong with the token.
    private static let joints = links.union(deadBehind).union(alive).union(negations).union([
        "by", "due", "since", "after", "at", "for", "please", "token", "session", "detected", "again", "so",
    ])
    private static let prepositions: Set = ["in", "within", "inside", "on", "from", "with"]
    /// Where a server keeps its tokens, and not where it looks for what came: "not found in the request body".
    private static let places: Set = [
        "database", "db", "store", "storage", "cache", "redis", "system", "server", "records", "table", "list",
    ]
    /// By these a sentence says how the parameter is to be written: "expected string, received undefined".
    private static let unwritten: Set = [
        "expected", "empty", "blank", "null", "undefined", "must", "should", "required", "missing",
    ]
    /// Parts from a token to what is wrong with it.
    private static let reach = 8

    /// Whether the server says that the refresh token, or the session, is no good any more.
    var saysThatSessionEnded: Bool { saysThatSessionEnded(orNamesNoToken: true) }

    /// Whether the server says so of the refresh token by its name: a proxy has sessions and tokens of its own.
    var saysThatRefreshTokenIsDead: Bool { saysThatSessionEnded(orNamesNoToken: false) }

    private func saysThatSessionEnded(orNamesNoToken takesOthers: Bool) -> Bool {
        parts.indices.contains { index in
            switch parts[index] {
            case "refreshtoken": isDead(index...index, behind: Self.deadBehind)
            case "token" where index > 0 && parts[index - 1] == "refresh":
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
        return articles.contains(parts[index - 1]) || Self.deadBefore.contains(parts[index - 1])
    }

    private func isDead(_ subject: ClosedRange<Int>, behind: Set<String>) -> Bool {
        let start = parts[..<subject.lowerBound].lastIndex { [".", ":"].contains($0) }.map { $0 + 1 } ?? 0
        let before = parts[start..<subject.lowerBound]
        let rest = parts.dropFirst(subject.upperBound + 1)
        if isDead(by: before) { return goesOn(rest) }
        // "No refresh token found" says that none has come. A session does not come with the request.
        let isNone = before.last == "no" || before.last == "missing"
        guard !isNone || parts[subject.lowerBound] == "session",
            before.allSatisfy({ Self.introductions.contains($0) || $0.contains(where: \.isNumber) })
        else { return false }
        var isNegated = isNone
        for (index, part) in zip(rest.indices, rest.prefix(Self.reach)) {
            if Self.negations.contains(part) { isNegated = true }
            let isGood = Self.alive.contains(part)
            // "has not been used" is no reason to end a session.
            if isGood && isNegated || behind.contains(part) {
                return isNegated == isGood && goesOn(rest[(index + 1)...])
            }
            guard part == ":" || isGood || Self.negations.contains(part) || Self.links.contains(part) else {
                return false
            }
        }
        return false
    }

    /// "invalid refresh token", "expired access or refresh token", "no such refresh token", "not a valid refresh
    /// token".
    private func isDead(by before: ArraySlice<String>) -> Bool {
        guard let close = before.lastIndex(where: { !Self.fillers.contains($0) }) else { return false }
        let nearest = before[..<close].suffix(2)
        // "cannot renew revoked token" says of the verb that it is not so, and "not an expired token" of the token.
        let isNegated =
            nearest.last.map { Self.negations.contains($0) || ["a", "an", "the"].contains($0) } == true
            && nearest.contains(where: Self.negations.contains)
        return isNegated
            ? ["valid", "such", "active", "known"].contains(before[close]) : Self.deadBefore.contains(before[close])
    }

    /// Whether the sentence goes on, behind what is wrong with the token, without speaking of something else: "invalid
    /// format", "not found in the request body", "not a valid UUID", "invalid: must be a string".
    private func goesOn(_ rest: ArraySlice<String>) -> Bool {
        guard let first = rest.first, first != "." else { return true }
        if first == ":" { return Self.unwritten.isDisjoint(with: rest.prefix(Self.reach)) }
        guard Self.prepositions.contains(first) else {
            return Self.joints.contains(first) || first.contains(where: \.isNumber)
        }
        let noun = rest.dropFirst().first { !["the", "our", "this", "a"].contains($0) }
        return noun.map { Self.places.contains($0) || $0.contains(where: \.isNumber) } ?? true
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
