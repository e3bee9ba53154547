public import Foundation

/// An authorization server: where its endpoints are (RFC 8414).
///
/// ``discover(_:allowsInsecureHTTP:configuration:clock:)`` reads them from the server. For a server that publishes
/// none, write them down. Endpoints and logins are made from it:
///
/// ```swift
/// let server = try await AuthorizationServer.discover(issuer)
/// let endpoint = try server.tokenEndpoint(.none(clientID: "app"))
/// let login = try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "com.example.app:/callback")
/// ```
public struct AuthorizationServer: Hashable, Sendable {
    /// What the server calls itself; `nil` for one that says nothing of it.
    ///
    /// A redirect that names another issuer is refused (RFC 9207).
    public let issuer: URL?

    /// Where the user's browser asks for a code.
    public let authorizationURL: URL?

    /// Where grants are exchanged.
    public let tokenURL: URL?

    /// Where a device asks for its codes (RFC 8628, section 3.1).
    public let deviceAuthorizationURL: URL?

    /// Where tokens are revoked (RFC 7009).
    public let revocationURL: URL?

    /// Where a login sends its request before the browser opens (RFC 9126).
    public let pushedAuthorizationURL: URL?

    /// Whether the server takes no other requests than those that were sent there (RFC 9126, section 5).
    public let requiresPushedRequests: Bool

    /// How the server takes proofs of possession to be signed (RFC 9449, section 5.1); `nil` if it does not say.
    ///
    /// A login with ``ProofKeys`` wants `ES256` among them, if there is such a list.
    public let proofAlgorithms: [String]?

    /// Whether every redirect has to name the issuer (RFC 9207, section 3).
    public let sendsIssuer: Bool

    /// Whether plain HTTP may leave this machine: for a test network only.
    public let allowsInsecureHTTP: Bool

    /// Creates a server from what its documentation says.
    public init(
        issuer: URL? = nil,
        authorizationURL: URL? = nil,
        tokenURL: URL?,
        deviceAuthorizationURL: URL? = nil,
        revocationURL: URL? = nil,
        pushedAuthorizationURL: URL? = nil,
        requiresPushedRequests: Bool = false,
        proofAlgorithms: [String]? = nil,
        sendsIssuer: Bool = false,
        allowsInsecureHTTP: Bool = false
    ) {
        self.issuer = issuer
        self.authorizationURL = authorizationURL
        self.tokenURL = tokenURL
        self.deviceAuthorizationURL = deviceAuthorizationURL
        self.revocationURL = revocationURL
        self.pushedAuthorizationURL = pushedAuthorizationURL
        self.requiresPushedRequests = requiresPushedRequests
        self.proofAlgorithms = proofAlgorithms
        self.sendsIssuer = sendsIssuer
        self.allowsInsecureHTTP = allowsInsecureHTTP
    }

    /// The token endpoint for a client of this server; with a ``revocationURL``, signing out revokes.
    ///
    /// - Throws: ``LoginError`` if the server has no such endpoint.
    public func tokenEndpoint(_ authentication: ClientAuthentication) throws(LoginError) -> TokenEndpoint {
        let url = try usable(tokenURL, "token_endpoint")
        var endpoint = TokenEndpoint(url, authentication: authentication, revocationURL: revocationURL)
        endpoint.allowsInsecureHTTP = allowsInsecureHTTP
        return endpoint
    }

    /// Refuses keys by whose proofs the server would issue nothing: the user has not been asked for anything yet.
    func check(_ keys: ProofKeys?) throws(LoginError) {
        guard keys != nil, let proofAlgorithms, !proofAlgorithms.contains(Proof.algorithm) else { return }
        let names = proofAlgorithms.isEmpty ? "none" : SentSecrets([]).readable(proofAlgorithms.joined(separator: ", "))
        throw .unusable(
            "proofKeys sign by \(Proof.algorithm), and the server takes other proofs "
                + "(dpop_signing_alg_values_supported: \(names)). Have \(Proof.algorithm) turned on there, or leave the "
                + "proofKeys out"
        )
    }

    /// A URL that secrets may go to, or a browser; `name` is that of the metadata.
    func usable(_ url: URL?, _ name: String) throws(LoginError) -> URL {
        guard let url else { throw .unusable("the server has no \(name)") }
        // A fragment would swallow the parameters that are appended.
        guard let origin = WebOrigin(of: url), url.fragment == nil else {
            throw .unusable("the \(name) is not a URL of a server, or has a user name or a fragment in it")
        }
        guard allowsInsecureHTTP || origin.isProtected else { throw .unusable("the \(name) is not https") }
        return url
    }
}
