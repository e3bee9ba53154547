/// What a sign-in, or a rotation, hands to the client.
public struct TokenPair: Hashable, Sendable, CustomStringConvertible {
    /// The value of the access token.
    public let accessToken: String
    /// The value of the refresh token, which is good for one use.
    public let refreshToken: String
    /// For how many seconds the access token is good, as the server announces it.
    public let lifetime: Int
    /// The access token's name.
    package let accessName: TokenName
    /// The refresh token's name.
    package let refreshName: TokenName

    /// Names the tokens and keeps their values.
    public var description: String {
        "\(accessName), \(refreshName)"
    }
}

/// A short name that stands for a token: people never see its value.
///
/// `A1` and `R1` come with a sign-in, `A2` and `R2` with the first rotation.
public struct TokenName: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String {
        case access = "A"
        case refresh = "R"
    }

    let kind: Kind
    /// The sign-in from which the token descends, counted from 1.
    public let family: Int
    /// 1 at sign-in, and one more with each rotation.
    let generation: Int

    /// `A1`, `R1` and so on; the family is not in it.
    public var description: String { "\(kind.rawValue)\(generation)" }
}
