import AccessTokenCore
import AccessTokenSynchronization
public import Foundation
import OAuthFoundation

/// A login by the authorization code grant, with PKCE: the URL to open, and the grant from the URL that comes back.
///
/// ```swift
/// let login = try AuthorizationCodeLogin(at: server, clientID: "app", redirectURI: "com.example.app:/callback")
/// let redirect = …  // Your app opens `login.url` in a browser, and receives the redirect.
/// let response = try await endpoint.exchange(try login.grant(from: redirect))
/// ```
///
/// It does no I/O. Each login has a code verifier of 32 random bytes (RFC 7636, method `S256` only) and a `state` of as
/// many, which the redirect has to repeat; where the issuer is known, `iss` is compared as well (RFC 9700, section 2.1;
/// RFC 9207). It never prints them.
///
/// **Concurrency** Can be used from any thread. Copies are the same login, which has one answer.
public struct AuthorizationCodeLogin: Sendable {
    /// The authorization request: open it in the user's browser (RFC 6749, section 4.1.1).
    ///
    /// It has the `state` in it, and no other secret.
    public let url: URL

    /// Where the browser comes back to, as it is registered.
    public var redirectURI: String { draft.redirect.text }

    private let draft: AuthorizationRequest
    private let answer = Answer()

    /// What all copies of a login share.
    private final class Answer: Sendable {
        private let isTaken = Locked(false)

        func take() throws(LoginError) {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
            guard isFirst else { throw .alreadyAnswered }
        }
    }

    /// Creates a login.
    ///
    /// - Parameters:
    ///   - server: needs an ``AuthorizationServer/authorizationURL``.
    ///   - clientID: the client's identifier.
    ///   - redirectURI: as it is registered, to the letter: an app's own scheme, `https`, or this machine.
    ///   - scope: what to ask for, separated by spaces; `nil` leaves that to the server. Most OpenID providers give a
    ///     refresh token for `offline_access` only.
    ///   - parameters: others, such as `prompt`, `login_hint`, or `resource` (RFC 8707), which goes with the code as
    ///     well. With the scope `openid`, a login makes a `nonce` unless you name one; the ID token has to repeat it.
    ///     If you name an empty one, none is sent, and none is demanded.
    ///   - proofKeys: those of the token endpoint, for a server that binds tokens to a key (DPoP, RFC 9449): the key of
    ///     the session is made now. The request names it (`dpop_jkt`, section 10), so that the code is good with that
    ///     key only.
    /// - Throws: ``LoginError`` if one of these cannot be used.
    public init(
        at server: AuthorizationServer,
        clientID: String,
        redirectURI: String,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:],
        proofKeys: ProofKeys? = nil
    ) throws(LoginError) {
        guard !server.requiresPushedRequests else {
            throw .unusable("the server takes pushed requests only: begin the login with the token endpoint, at:with:")
        }
        draft = try AuthorizationRequest(server, clientID, redirectURI, scope, parameters, proofKeys)
        url = try draft.url(with: draft.parameters)
    }

    /// Creates a login whose request is sent to the server first, where the server takes that (RFC 9126).
    ///
    /// ``url`` has a reference to the request then: what is asked for does not pass through the browser. A server
    /// without ``AuthorizationServer/pushedAuthorizationURL`` gets the usual URL.
    ///
    /// **Failure** ``LoginError``; an error of the app's own client assertion, unchanged.
    ///
    /// - Parameters:
    ///   - server: needs an ``AuthorizationServer/authorizationURL``.
    ///   - endpoint: the token endpoint of the client that logs in, which proves itself in the same way.
    ///   - redirectURI: as it is registered, to the letter: an app's own scheme, `https`, or this machine.
    ///   - scope: what to ask for, separated by spaces; `nil` leaves that to the server.
    ///   - parameters: others, as for the usual login.
    public init(
        at server: AuthorizationServer,
        with endpoint: TokenEndpoint,
        redirectURI: String,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:]
    ) async throws {
        draft = try AuthorizationRequest(
            server,
            endpoint.authentication.clientID,
            redirectURI,
            scope,
            parameters,
            endpoint.proofKeys
        )
        if server.pushedAuthorizationURL != nil || server.requiresPushedRequests {
            let place = try server.usable(server.pushedAuthorizationURL, "pushed_authorization_request_endpoint")
            let reference = try await PushedRequest.send(
                draft.parameters,
                provedBy: draft.key,
                to: place,
                with: endpoint
            )
            url = try draft.url(with: [
                FormParameter("client_id", draft.clientID), FormParameter("request_uri", reference),
            ])
        } else {
            url = try draft.url(with: draft.parameters)
        }
    }

    /// Turns the URL that came back into the grant to exchange (RFC 6749, section 4.1.2).
    ///
    /// Nothing is sent. After ``LoginError/foreignRedirect`` and ``LoginError/wrongState`` the login waits on: another
    /// app, or a page in the browser, can make up such URLs. Any other answer is final.
    ///
    /// - Parameter redirect: the whole URL, with its query. An address that the user pasted is as good.
    /// - Throws: ``LoginError``: what the server refused, or why the redirect is not accepted.
    public func grant(from redirect: URL) throws(LoginError) -> TokenGrant {
        try grant(from: draft.redirect.query(of: redirect))
    }

    /// The same from a request to the listener of the redirect URI.
    func grant(fromTarget path: String, _ query: String?) throws(LoginError) -> TokenGrant {
        try grant(from: draft.redirect.query(ofTarget: path, query))
    }

    /// - Parameter query: `nil` if the redirect is not for this login's URI.
    private func grant(from query: RedirectQuery?) throws(LoginError) -> TokenGrant {
        guard let query else { throw .foreignRedirect }
        // Of another login, not even the error is looked at.
        guard query.parameters.filter({ $0.name == "state" }).map(\.value) == [draft.state] else { throw .wrongState }
        try answer.take()
        try checkIssuer(query)
        let (code, error) = (try query.value("code"), try query.value("error"))
        if let error {
            guard code == nil else { throw .badRedirect("error", "beside a code") }
            let sent = SentSecrets([draft.state, draft.verifier])
            guard let shown = sent.code(error) else { throw .badRedirect("error", "not a code") }
            let explanation = try? query.value("error_description")
            throw .serverRefused(shown, explanation: explanation.map(sent.readable))
        }
        guard let code else { throw .badRedirect("code", "missing") }
        guard code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .badRedirect("code", "not readable") }
        do {
            let grant = try TokenGrant.authorizationCode(code, redirectURI: redirectURI, codeVerifier: draft.verifier)
            return draft.resources.reduce(grant.expecting(draft.idToken).bound(to: draft.key)) {
                $0.adding(["resource": $1])
            }
        } catch {
            throw .badRedirect("code", "not usable")
        }
    }

    /// A server that answers for another one wants the code of that one (RFC 9207, section 2.4).
    private func checkIssuer(_ query: RedirectQuery) throws(LoginError) {
        let named = try query.value("iss")
        guard let issuer = draft.server.issuer?.absoluteString else { return }
        guard named == issuer || (named == nil && !draft.server.sendsIssuer) else {
            throw .wrongIssuer(
                expected: issuer,
                found: named.map { SentSecrets([draft.state, draft.verifier]).readable($0) }
            )
        }
    }
}

extension AuthorizationCodeLogin: CustomStringConvertible, CustomReflectable {
    /// Where the login is; never its secrets.
    public var description: String {
        "AuthorizationCodeLogin(\(WebOrigin(of: url)?.description ?? ""), redirectURI: \(redirectURI))"
    }

    /// A mirror without the secrets: `dump` does not print them.
    public var customMirror: Mirror { Mirror(self, children: ["redirectURI": redirectURI], displayStyle: .struct) }
}
