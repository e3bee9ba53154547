/// What a sign-in, or a rotation, hands to the client.
package struct TokenPair: Hashable, Sendable, CustomStringConvertible {
    package let accessToken: String
    package let refreshToken: String
    /// Seconds.
    package let lifetime: Int
    package let accessName: TokenName
    package let refreshName: TokenName

    /// Names the tokens and keeps their values.
    package var description: String {
        "\(accessName), \(refreshName)"
    }
}
