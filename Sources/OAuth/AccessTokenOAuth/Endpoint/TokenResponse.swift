public import AccessTokenCore
public import Foundation

/// What the token endpoint hands out (RFC 6749, section 5.1).
///
/// It never prints a secret.
public struct TokenResponse: Hashable, Sendable {
    /// The access token, with its expiration by the local clock if the server named a lifetime.
    public let accessToken: AccessToken

    /// The refresh token to use from now on; `nil` means that the one that was sent, if one was, stays good.
    ///
    /// A server may send a number, whose digits are kept as they stand. Of any other type the reply is not understood.
    public private(set) var refreshToken: String?

    /// What the access token is good for, in the server's words; `nil` means what was asked for.
    public let scope: String?

    /// The response's other members, such as `id_token` and those of a vendor; text as it is, anything else as its
    /// JSON.
    public let otherMembers: [String: String]

    /// The key that the tokens are bound to (RFC 9449), as its record is to keep it.
    private(set) var proofKey: Data?

    /// The ID token of OpenID Connect, if there is one.
    ///
    /// At the end of a login of this package, and at each renewal by an ``OAuthLoader``, issuer, audience, expiry,
    /// nonce and `at_hash` were checked (OpenID Connect Core, sections 3.1.3.7 and 12.2). <doc:LogIn> says what was
    /// not. The signature was not: the token came over TLS from the token endpoint. Verify it before you hand the ID
    /// token on to a server.
    public var idToken: String? { otherMembers["id_token"] }

    /// Creates a response, for doubles of a server in tests.
    public init(
        accessToken: AccessToken,
        refreshToken: String? = nil,
        scope: String? = nil,
        otherMembers: [String: String] = [:]
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.scope = scope
        self.otherMembers = otherMembers
    }

    /// Reads members that have the names of RFC 6749, section 5.1, for a ``TokenEndpoint/replyMapping``.
    ///
    /// `expires_in` is read as in a usual reply: see <doc:Servers>. The type of the token is not looked at. `nil` if
    /// there is no `access_token`.
    ///
    /// - Parameters:
    ///   - members: those of ``TokenEndpointReply/members`` or ``TokenEndpointReply/members(of:)``, changed as needed.
    ///   - received: when the reply came: a lifetime counts from here.
    ///   - expiration: when the access token expires, for a server that says so in another member than `expires_in`.
    public init?(members: [String: String], received: Date, expiration: Date? = nil) {
        guard let value = TokenReplyMembers.something(members["access_token"]) else { return nil }
        let lifetime = TokenReplyMembers.lifetime(members["expires_in"].map { .text($0) })
        let expiration = expiration ?? lifetime.map { received.addingTimeInterval($0) }
        self.init(
            accessToken: AccessToken(value: value, expiration: expiration),
            refreshToken: TokenReplyMembers.something(members["refresh_token"]),
            scope: members["scope"].flatMap { $0.isEmpty ? nil : $0 },
            otherMembers: members.filter { !TokenReplyMembers.known.contains($0.key) }
        )
    }

    /// Reads members of which one, and no other, is the access token, for a ``TokenEndpoint/replyMapping``.
    ///
    /// An ID token, say, which a server need not send with each renewal (OpenID Connect Core, section 12.2). If that
    /// member is missing, the access token of the reply is not taken in its place: the exchange fails with
    /// ``OAuthError/unusableToken(_:)``, and the refresh token of the reply is saved.
    ///
    /// `nil` if the members have neither that token nor those of RFC 6749, section 5.1.
    ///
    /// - Parameters:
    ///   - members: those of ``TokenEndpointReply/members`` or ``TokenEndpointReply/members(of:)``, changed as needed.
    ///   - received: when the reply came: a lifetime counts from here.
    ///   - name: of the member that is the access token.
    ///   - expiration: when that token expires, if not as `expires_in` says.
    public init?(
        members: [String: String],
        received: Date,
        accessTokenIn name: String,
        expiration: Date? = nil
    ) {
        let names = [name, "access_token", "refresh_token"]
        guard names.contains(where: { TokenReplyMembers.something(members[$0]) != nil }) else { return nil }
        // One that is empty is refused when the response is checked.
        let missing = TokenResponse(
            accessToken: AccessToken(value: ""),
            refreshToken: TokenReplyMembers.something(members["refresh_token"])
        )
        var members = members
        members["access_token"] = members[name]
        self = TokenResponse(members: members, received: received, expiration: expiration) ?? missing
    }

    func withRefreshToken(_ token: String?) -> TokenResponse {
        var response = self
        response.refreshToken = token
        return response
    }

    func bound(to key: ProofKey) -> TokenResponse {
        var response = self
        response.proofKey = key.stored
        return response
    }
}

extension TokenResponse: CustomStringConvertible, CustomReflectable {
    /// What there is, and never a secret.
    public var description: String {
        "TokenResponse(\(accessToken), refreshToken: \(refreshToken == nil ? "none" : "<hidden>"))"
    }

    /// A mirror without the refresh token, the scope and the other members: `dump` prints no secret and no free text.
    public var customMirror: Mirror {
        Mirror(self, children: ["accessToken": accessToken], displayStyle: .struct)
    }
}
