/// Every token that the server has issued, and what has become of it.
///
/// Pure: no clock, no sockets.
struct GrantLedger {
    /// What became of a refresh token that a client presented.
    enum Rotation: Hashable {
        case rotated(TokenPair)
        /// It was spent before; `revokes` if this is what ended the family.
        case spent(TokenName, revokes: Bool)
        case revoked
        case unknown
    }

    /// What a refresh token was exchanged for, and when.
    private struct Exchange {
        let pair: TokenPair
        let time: ContinuousClock.Instant
    }

    private let lifetime: Int
    private let grace: Duration
    private var families: [TokenFamily] = []
    private var names: [String: TokenName] = [:]
    private var exchanges: [String: Exchange] = [:]

    /// - Parameters:
    ///   - lifetime: of an access token, in seconds, as the server announces it.
    ///   - grace: for how long a spent refresh token is answered with what it was exchanged for.
    init(lifetime: Int, grace: Duration = .zero) {
        self.lifetime = lifetime
        self.grace = grace
    }

    mutating func signIn() -> TokenPair {
        families.append(TokenFamily())
        return issue(family: families.count, generation: 1)
    }

    mutating func rotate(refreshToken: String, at now: ContinuousClock.Instant) -> Rotation {
        guard let name = names[refreshToken], name.kind == .refresh else { return .unknown }
        let wasRevoked = isRevoked(family: name.family)
        if let earlier = exchanges[refreshToken], !wasRevoked, earlier.time.duration(to: now) < grace {
            return .rotated(earlier.pair)
        }
        switch families[name.family - 1].spend(name.generation) {
        case .rotated:
            let pair = issue(family: name.family, generation: name.generation + 1)
            if grace > .zero { exchanges[refreshToken] = Exchange(pair: pair, time: now) }
            return .rotated(pair)
        case .spent: return .spent(name, revokes: !wasRevoked)
        case .revoked: return .revoked
        }
    }

    /// Revokes the family of a token, and says which it is, if that makes a difference.
    mutating func revoke(_ token: String) -> Int? {
        guard let name = names[token], !isRevoked(family: name.family) else { return nil }
        families[name.family - 1].revoke()
        return name.family
    }

    /// Lets all access tokens issued so far run out now.
    mutating func expireAccessTokens() {
        for index in families.indices {
            families[index].expireAccessTokens()
        }
    }

    func accepts(accessToken: String) -> Bool {
        guard let name = names[accessToken], name.kind == .access else { return false }
        return families[name.family - 1].accepts(accessTokenOf: name.generation)
    }

    func isRevoked(family: Int) -> Bool {
        families.indices.contains(family - 1) && families[family - 1].isRevoked
    }

    /// The name of a token, whichever of the two kinds it is.
    func name(of token: String) -> TokenName? {
        names[token]
    }

    private mutating func issue(family: Int, generation: Int) -> TokenPair {
        let pair = TokenPair(
            accessToken: Self.randomValue(),
            refreshToken: Self.randomValue(),
            lifetime: lifetime,
            accessName: TokenName(kind: .access, family: family, generation: generation),
            refreshName: TokenName(kind: .refresh, family: family, generation: generation)
        )
        names[pair.accessToken] = pair.accessName
        names[pair.refreshToken] = pair.refreshName
        return pair
    }

    /// 128 random bits, and characters that form encoding has to escape: `+`, `/` and `=` are common in
    /// tokens, and a client that does not encode them corrupts them.
    private static func randomValue() -> String {
        var generator = SystemRandomNumberGenerator()
        let halves = [generator.next(), generator.next()] as [UInt64]
        return halves.map { String($0, radix: 36) }.joined(separator: "+/") + "=="
    }
}

/// All tokens that descend from one sign-in, by the generation to which each belongs.
///
/// ```text
/// signed in ──▸ 1 ──rotate──▸ 2 ──rotate──▸ 3 …       the newest generation is the only one that is good
///               └──── a spent token ────▸ revoked      and then none is (RFC 9700, section 4.14.2)
/// ```
struct TokenFamily: Hashable, Sendable {
    /// What a refresh token is good for.
    enum Verdict: Hashable {
        case rotated
        case spent
        case revoked
    }

    private(set) var newest = 1
    private(set) var isRevoked = false
    /// The generations whose access token has run out, whatever the lifetime said at first.
    private var expiredUpTo = 0

    /// Spends the refresh token of a generation.
    ///
    /// Strict, without a period of grace: the server cannot tell a thief from an owner who is in two
    /// minds, so the second use of a token ends the session for both.
    mutating func spend(_ generation: Int) -> Verdict {
        guard generation == newest else {
            isRevoked = true
            return .spent
        }
        guard !isRevoked else { return .revoked }
        newest += 1
        return .rotated
    }

    mutating func revoke() {
        isRevoked = true
    }

    mutating func expireAccessTokens() {
        expiredUpTo = newest
    }

    /// Access tokens outlive a rotation: a request that is on its way must not fail for it.
    func accepts(accessTokenOf generation: Int) -> Bool {
        !isRevoked && generation > expiredUpTo
    }
}
