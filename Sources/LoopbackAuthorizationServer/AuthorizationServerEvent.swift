/// What the server received or answered; tokens have names here, never values.
package enum AuthorizationServerEvent: Hashable, Sendable {
    /// A `POST` to the token endpoint; the name is that of the refresh token, if it is a known one.
    case tokenRequested(TokenName?)
    /// The token endpoint issued a new pair.
    case tokenIssued(access: TokenName, refresh: TokenName)
    /// The token endpoint refused with this code of RFC 6749, section 5.2.
    case tokenRefused(code: String)
    /// A refresh token was presented that was spent.
    case reuseDetected(TokenName)
    /// All tokens that descend from this sign-in were revoked.
    case familyRevoked(Int)
    /// A request for the resource; the name is that of the access token, if it is a known one.
    case resourceRequested(TokenName?)
    /// The resource answered 200.
    case resourceServed(TokenName)
    /// The resource answered 401.
    case resourceRefused(TokenName?)
    /// Something that is not a request, or none that the server answers.
    case requestRejected(status: Int)
}
