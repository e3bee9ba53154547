import Foundation

/// Every token that the server has issued, and what has become of it.
///
/// Pure: no clock, no sockets.
///
/// ```text
/// signed in ──▸ 1 ──rotate──▸ 2 ──rotate──▸ 3 …       the newest generation is the only one that is good
///               └──── a spent token ────▸ revoked      and then none is (RFC 9700, section 4.14.2)
/// ```
struct GrantLedger {
    /// What became of a refresh token that a client presented.
    enum Rotation: Hashable {
        case rotated(TokenPair)
        /// It was spent before; `revokes` if this is what ended the family.
        case spent(TokenName, revokes: Bool)
        /// It is none of this client's, or its family was revoked.
        case refused
    }

    /// What became of a token that a client revokes.
    enum Revocation: Hashable {
        case revoked(family: Int)
        /// It is not known, or was revoked before.
        case unchanged
        /// It was issued to another client (RFC 6749, section 5.2).
        case refused
    }

    /// All tokens that descend from one sign-in.
    private struct Family {
        let clientID: String
        let user: String?
        /// Of the key to which the refresh tokens of a client without a secret are bound (RFC 9449, section 5).
        var thumbprint: String?
        var newest = 1
        var isRevoked = false
        /// The generations whose access token has run out, whatever the lifetime said at first.
        var expiredUpTo = 0
    }

    private let lifetime: Int
    private let grace: TimeInterval
    private var families: [Family] = []
    private var names: [String: TokenName] = [:]
    /// Of the keys to which access tokens are bound.
    private var thumbprints: [String: String] = [:]
    /// What a refresh token was exchanged for, and when.
    private var exchanges: [String: (pair: TokenPair, time: TimeInterval)] = [:]

    /// In seconds: what the server announces, and for how long a spent token is answered with what it was exchanged
    /// for.
    init(lifetime: Int, grace: TimeInterval) {
        self.lifetime = lifetime
        self.grace = grace
    }

    /// The first tokens of a new family; a client that acts for itself leaves the refresh token unused.
    mutating func signIn(_ clientID: String, user: String? = nil, boundTo thumbprint: String? = nil) -> TokenPair {
        families.append(Family(clientID: clientID, user: user, thumbprint: thumbprint))
        return issue(family: families.count, generation: 1, boundTo: thumbprint)
    }

    /// Spends a refresh token.
    ///
    /// Strict but for the grace: the server cannot tell a thief from an owner who is in two minds, so the second use of
    /// a token ends the session for both.
    ///
    /// - Parameters:
    ///   - thumbprint: of the key that the request has proved.
    ///   - isBound: whether the refresh token is good with one key only; a session that began without one takes the
    ///     first.
    ///   - now: seconds by any clock that does not go back.
    mutating func rotate(
        _ refreshToken: String,
        of clientID: String,
        boundTo thumbprint: String? = nil,
        isBound: Bool = true,
        at now: TimeInterval
    ) -> Rotation {
        guard let name = names[refreshToken], name.kind == .refresh, families[name.family - 1].clientID == clientID
        else { return .refused }
        let family = families[name.family - 1]
        if isBound, let bound = family.thumbprint, bound != thumbprint { return .refused }
        if let earlier = exchanges[refreshToken], !family.isRevoked, now - earlier.time < grace {
            return .rotated(earlier.pair)
        }
        guard name.generation == family.newest else {
            families[name.family - 1].isRevoked = true
            return .spent(name, revokes: !family.isRevoked)
        }
        guard !family.isRevoked else { return .refused }
        families[name.family - 1].newest += 1
        families[name.family - 1].thumbprint = thumbprint
        let pair = issue(family: name.family, generation: name.generation + 1, boundTo: thumbprint)
        if grace > 0 { exchanges[refreshToken] = (pair, now) }
        return .rotated(pair)
    }

    /// Revokes a family, and says whether that makes a difference.
    mutating func revoke(family: Int) -> Bool {
        defer { families[family - 1].isRevoked = true }
        return !families[family - 1].isRevoked
    }

    /// Revokes the family of a token, for the client that the token was issued to.
    mutating func revoke(_ token: String, of clientID: String) -> Revocation {
        guard let family = names[token]?.family else { return .unchanged }
        guard families[family - 1].clientID == clientID else { return .refused }
        return revoke(family: family) ? .revoked(family: family) : .unchanged
    }

    /// Lets all access tokens issued so far run out now.
    mutating func expireAccessTokens() {
        for index in families.indices { families[index].expiredUpTo = families[index].newest }
    }

    /// Access tokens outlive a rotation: a request that is on its way must not fail for it.
    func accepts(accessToken: String) -> Bool {
        guard let name = names[accessToken], name.kind == .access else { return false }
        let family = families[name.family - 1]
        return !family.isRevoked && name.generation > family.expiredUpTo
    }

    func isRevoked(family: Int) -> Bool {
        families.indices.contains(family - 1) && families[family - 1].isRevoked
    }

    /// Who has signed in, if the server knows.
    func user(of name: TokenName) -> String? { families[name.family - 1].user }

    /// The name of a token, whichever of the two kinds it is.
    func name(of token: String) -> TokenName? {
        names[token]
    }

    /// Of the key to which an access token is bound; `nil` if it is bound to none.
    func thumbprint(of accessToken: String) -> String? { thumbprints[accessToken] }

    private mutating func issue(family: Int, generation: Int, boundTo thumbprint: String?) -> TokenPair {
        let pair = TokenPair(
            accessToken: Self.randomValue(),
            refreshToken: Self.randomValue(),
            lifetime: lifetime,
            accessName: TokenName(kind: .access, family: family, generation: generation),
            refreshName: TokenName(kind: .refresh, family: family, generation: generation)
        )
        names[pair.accessToken] = pair.accessName
        names[pair.refreshToken] = pair.refreshName
        thumbprints[pair.accessToken] = thumbprint
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
