/// What the server has counted since it started.
package struct AuthorizationServerTally: Hashable, Sendable {
    /// Requests at the token endpoint.
    package internal(set) var tokenRequests = 0
    /// Those among them that presented a refresh token that was spent.
    package internal(set) var reuses = 0
    /// Families that were signed in.
    package internal(set) var signIns = 0
    /// Families that were revoked.
    package internal(set) var revokedFamilies = 0
}
