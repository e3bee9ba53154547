/// What a client exchanges for an access token at the token endpoint (RFC 6749, sections 4 and 6).
///
/// It never prints a secret.
public struct TokenGrant: Hashable, Sendable {
    static let deviceCodeType = "urn:ietf:params:oauth:grant-type:device_code"

    let type: String
    private var own: [FormParameter]
    /// What an ID token in the reply has to say.
    private(set) var idToken: IDTokenCheck?
    /// The key that the tokens are bound to, or are to be bound to (RFC 9449).
    private(set) var key: ProofKey?

    /// On what the meaning of a reply depends.
    var kind: GrantKind {
        switch type {
        case "refresh_token": .renewal
        case Self.deviceCodeType: .device
        default: .other
        }
    }

    private init(type: String, _ parameters: [FormParameter?]) {
        self.type = type
        own = parameters.compactMap(\.self)
    }

    /// A refresh token (RFC 6749, section 6).
    ///
    /// - Parameters:
    ///   - token: the refresh token; with rotation it can be used once.
    ///   - scope: leave it out. A server may take what is not named here away for ever.
    public static func refreshToken(_ token: String, scope: String? = nil) -> TokenGrant {
        TokenGrant(
            type: "refresh_token",
            [FormParameter("refresh_token", token, isSecret: true), scope.map { FormParameter("scope", $0) }]
        )
    }

    /// The client's own authority, with no user (RFC 6749, section 4.4).
    public static func clientCredentials(scope: String? = nil) -> TokenGrant {
        TokenGrant(type: "client_credentials", [scope.map { FormParameter("scope", $0) }])
    }

    /// The code that the user's browser brought back (RFC 6749, section 4.1.3), with PKCE (RFC 7636, section 4.5).
    ///
    /// An ``AuthorizationCodeLogin`` makes this grant, together with the verifier and all checks. If you make it
    /// yourself, compare `state`, and `iss` where the server sends it (RFC 9700, section 2.1).
    ///
    /// - Parameters:
    ///   - code: the code, which can be used once.
    ///   - redirectURI: the one of the authorization request, to the letter; `nil` if that request had none.
    ///   - codeVerifier: 43 to 128 characters, each a letter, a digit, `-`, `.`, `_` or `~`.
    /// - Throws: ``OAuthError/invalidCodeVerifier`` if the verifier is not of that form.
    public static func authorizationCode(
        _ code: String,
        redirectURI: String?,
        codeVerifier: String
    ) throws(OAuthError) -> TokenGrant {
        guard (43...128).contains(codeVerifier.utf8.count),
            codeVerifier.utf8.allSatisfy(FormEncoding.unreserved.contains)
        else { throw .invalidCodeVerifier }
        return TokenGrant(
            type: "authorization_code",
            [
                FormParameter("code", code, isSecret: true), redirectURI.map { FormParameter("redirect_uri", $0) },
                FormParameter("code_verifier", codeVerifier, isSecret: true),
            ]
        )
    }

    /// The user's own name and password, which the app sees (RFC 6749, section 4.3).
    ///
    /// RFC 9700, section 2.4: this grant **must not** be used. It shows the password to the app, trains users to type
    /// it anywhere, and leaves no room for a second factor. It is here for servers that have nothing else, and for
    /// their tests.
    public static func password(_ password: String, username: String, scope: String? = nil) -> TokenGrant {
        TokenGrant(
            type: "password",
            [
                FormParameter("username", username, isSecret: true),
                FormParameter("password", password, isSecret: true),
                scope.map { FormParameter("scope", $0) },
            ]
        )
    }

    /// Any other grant, by its URI (RFC 6749, section 4.5), such as token exchange (RFC 8693) or a JSON Web Token
    /// (RFC 7523).
    ///
    /// A device code (RFC 8628) is such a grant, too; a ``DeviceLogin`` polls with it.
    ///
    /// - Parameters:
    ///   - type: the value of `grant_type`.
    ///   - parameters: in the order in which they are to be sent. A name may come more than once only where the
    ///     grant's own specification says so. All values count as secrets.
    public static func extensionGrant(_ type: String, parameters: KeyValuePairs<String, String>) -> TokenGrant {
        TokenGrant(type: type, parameters.map { FormParameter($0.key, $0.value, isSecret: true) })
    }

    /// The same grant with more parameters, such as `resource` (RFC 8707) or a vendor's `audience`.
    ///
    /// All values but those of `resource`, `audience` and `scope` count as secrets: no error shows them.
    public func adding(_ parameters: KeyValuePairs<String, String>) -> TokenGrant {
        let added = parameters.map { name, value in
            FormParameter(name, value, isSecret: !["resource", "audience", "scope"].contains(name))
        }
        var grant = self
        grant.own += added
        return grant
    }

    /// The same grant, with what an ID token in the reply has to say.
    func expecting(_ idToken: IDTokenCheck?) -> TokenGrant {
        var grant = self
        grant.idToken = idToken
        return grant
    }

    /// The same grant, sent with proofs of a key.
    func bound(to key: ProofKey?) -> TokenGrant {
        var grant = self
        grant.key = key
        return grant
    }

    /// The refresh token that the grant sends, if it is such a grant.
    var refreshToken: String? {
        type == "refresh_token" ? own.first { $0.name == "refresh_token" }?.value : nil
    }

    /// The parameters of the request body but for the client's.
    var parameters: [FormParameter] {
        [FormParameter("grant_type", type)] + own
    }
}

extension TokenGrant: CustomStringConvertible, CustomReflectable {
    /// The type of the grant, and never a secret.
    public var description: String { "TokenGrant(\(type))" }

    /// A mirror without the parameters: `dump` prints no secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["type": type], displayStyle: .struct)
    }
}
