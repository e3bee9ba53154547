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
    public var redirectURI: String { redirect.text }

    private let redirect: RedirectURI
    private let server: AuthorizationServer
    private let resources: [String]
    private let verifier = LoginSecret.random()
    private let state = LoginSecret.random()
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

    /// Parameters that a login sets itself.
    private static let own: Set = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
    ]

    /// Those that may come more than once (RFC 8707, section 2; RFC 8693, section 2.1).
    private static let repeatable: Set = ["resource", "audience"]

    /// Creates a login.
    ///
    /// - Parameters:
    ///   - server: needs an ``AuthorizationServer/authorizationURL``.
    ///   - clientID: the client's identifier.
    ///   - redirectURI: as it is registered, to the letter: an app's own scheme, `https`, or this machine.
    ///   - scope: what to ask for, separated by spaces; `nil` leaves that to the server. Most OpenID providers give a
    ///     refresh token for `offline_access` only.
    ///   - parameters: others, such as `prompt`, `login_hint`, `nonce`, or `resource` (RFC 8707), which goes with the
    ///     code as well.
    /// - Throws: ``LoginError`` if one of these cannot be used.
    public init(
        at server: AuthorizationServer,
        clientID: String,
        redirectURI: String,
        scope: String? = nil,
        parameters: KeyValuePairs<String, String> = [:]
    ) throws(LoginError) {
        let endpoint = try server.usable(server.authorizationURL, "authorization_endpoint")
        guard !clientID.isEmpty else { throw .unusable("the client's identifier is empty") }
        self.server = server
        redirect = try RedirectURI(redirectURI, allowsInsecureHTTP: server.allowsInsecureHTTP)
        resources = parameters.filter { $0.key == "resource" }.map(\.value)
        var query = [
            FormParameter("response_type", "code"), FormParameter("client_id", clientID),
            FormParameter("redirect_uri", redirectURI), FormParameter("scope", scope ?? ""),
            FormParameter("state", state),
            FormParameter("code_challenge", LoginSecret.challenge(of: verifier)),
            FormParameter("code_challenge_method", "S256"),
        ]
        query += parameters.map { FormParameter($0.key, $0.value) }
        // The endpoint's own query is kept (RFC 6749, section 3.1).
        let present = URLComponents(url: endpoint, resolvingAgainstBaseURL: true)?.percentEncodedQuery
        var names = RedirectQuery(present).parameters.map(\.name) + parameters.map(\.key)
        names.removeAll(where: Self.repeatable.contains)
        if let name = names.first(where: Self.own.contains) {
            throw .unusable(
                "\(name) is set by the login itself: leave it out of the parameters and of the endpoint's URL"
            )
        }
        guard Set(names).count == names.count else { throw .unusable("a parameter is named twice") }
        // In a URL, every server reads %20 as a space, and not every one reads + so.
        let added = FormEncoding.body(query).replacingOccurrences(of: "+", with: "%20")
        let separator = present == nil ? "?" : present == "" ? "" : "&"
        guard let url = URL(string: endpoint.absoluteString + separator + added) else {
            throw .unusable("the authorization_endpoint makes no URL with a query")
        }
        self.url = url
    }

    /// Turns the URL that came back into the grant to exchange (RFC 6749, section 4.1.2).
    ///
    /// Nothing is sent. After ``LoginError/foreignRedirect`` and ``LoginError/wrongState`` the login waits on: another
    /// app, or a page in the browser, can make up such URLs. Any other answer is final.
    ///
    /// - Parameter redirect: the whole URL, with its query. An address that the user pasted is as good.
    /// - Throws: ``LoginError``: what the server refused, or why the redirect is not accepted.
    public func grant(from redirect: URL) throws(LoginError) -> TokenGrant {
        guard let query = self.redirect.query(of: redirect) else { throw .foreignRedirect }
        // Of another login, not even the error is looked at.
        guard query.parameters.filter({ $0.name == "state" }).map(\.value) == [state] else { throw .wrongState }
        try answer.take()
        try checkIssuer(query)
        let (code, error) = (try query.value("code"), try query.value("error"))
        if let error {
            guard code == nil else { throw .badRedirect("error", "beside a code") }
            let sent = SentSecrets([state, verifier])
            guard let shown = sent.code(error) else { throw .badRedirect("error", "not a code") }
            let explanation = try? query.value("error_description")
            throw .serverRefused(shown, explanation: explanation.map(sent.readable))
        }
        guard let code else { throw .badRedirect("code", "missing") }
        guard code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .badRedirect("code", "not readable") }
        do {
            let grant = try TokenGrant.authorizationCode(code, redirectURI: redirectURI, codeVerifier: verifier)
            return resources.reduce(grant) { $0.adding(["resource": $1]) }
        } catch {
            throw .badRedirect("code", "not usable")
        }
    }

    /// A server that answers for another one wants the code of that one (RFC 9207, section 2.4).
    private func checkIssuer(_ query: RedirectQuery) throws(LoginError) {
        let named = try query.value("iss")
        guard let issuer = server.issuer?.absoluteString else { return }
        guard named == issuer || (named == nil && !server.sendsIssuer) else {
            throw .wrongIssuer(expected: issuer, found: named.map { SentSecrets([state, verifier]).readable($0) })
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
