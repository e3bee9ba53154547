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

    mutating func expireAccessTokens() {
        expiredUpTo = newest
    }

    /// Access tokens outlive a rotation: a request that is on its way must not fail for it.
    func accepts(accessTokenOf generation: Int) -> Bool {
        !isRevoked && generation > expiredUpTo
    }
}
