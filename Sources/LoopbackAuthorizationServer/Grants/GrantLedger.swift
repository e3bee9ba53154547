/// Every token that the server has issued, and what has become of it.
///
/// Pure: no clock, no sockets.
struct GrantLedger {
    /// What became of a refresh token that somebody presented.
    enum Rotation: Hashable {
        case rotated(TokenPair)
        /// It was spent before; `revokes` if this is what ended the family.
        case spent(TokenName, revokes: Bool)
        case revoked
        case unknown
    }

    private let lifetime: Int
    private var families: [TokenFamily] = []
    private var names: [String: TokenName] = [:]

    /// - Parameter lifetime: of an access token, in seconds, as the server announces it.
    init(lifetime: Int) {
        self.lifetime = lifetime
    }

    mutating func signIn() -> TokenPair {
        families.append(TokenFamily())
        return issue(family: families.count, generation: 1)
    }

    mutating func rotate(refreshToken: String) -> Rotation {
        guard let name = names[refreshToken], name.kind == .refresh else { return .unknown }
        let wasRevoked = isRevoked(family: name.family)
        switch families[name.family - 1].spend(name.generation) {
        case .rotated: return .rotated(issue(family: name.family, generation: name.generation + 1))
        case .spent: return .spent(name, revokes: !wasRevoked)
        case .revoked: return .revoked
        }
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
