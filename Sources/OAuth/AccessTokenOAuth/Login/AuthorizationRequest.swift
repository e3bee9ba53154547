import Foundation
import OAuthFoundation

/// What a login asks for (RFC 6749, section 4.1.1), with its secrets.
struct AuthorizationRequest: Sendable {
    let server: AuthorizationServer
    let clientID: String
    let redirect: RedirectURI
    let parameters: [FormParameter]
    let resources: [String]
    let verifier = LoginSecret.random()
    let state = LoginSecret.random()
    /// What an ID token has to say at the end.
    let idToken: IDTokenCheck
    /// To which the tokens are bound (RFC 9449).
    let key: ProofKey?
    private let endpoint: URL

    /// Parameters that a login sets itself.
    private static let own: Set = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
        "request_uri", "dpop_jkt",
    ]

    /// Those that may come more than once (RFC 8707, section 2; RFC 8693, section 2.1).
    private static let repeatable: Set = ["resource", "audience"]

    init(
        _ server: AuthorizationServer,
        _ clientID: String,
        _ redirectURI: String,
        _ scope: String?,
        _ parameters: KeyValuePairs<String, String>,
        _ proofKeys: ProofKeys?
    ) throws(LoginError) {
        endpoint = try server.usable(server.authorizationURL, "authorization_endpoint")
        guard !clientID.isEmpty else { throw .unusable("the client's identifier is empty") }
        self.server = server
        self.clientID = clientID
        redirect = try RedirectURI(redirectURI, allowsInsecureHTTP: server.allowsInsecureHTTP)
        try server.check(proofKeys)
        resources = parameters.filter { $0.key == "resource" }.map(\.value)
        do { key = try proofKeys?.make() } catch {
            // The error may be one of the app's, which could repeat a secret.
            throw .unusable("the proofKeys made no key, by an error of type \(type(of: error))")
        }
        // OpenID Connect Core, section 3.1.2.1.
        let isOpenID = scope?.split(separator: " ").contains("openid") == true
        let given = parameters.first { $0.key == "nonce" }?.value
        // One that is empty is not sent, and none is demanded: not every server repeats it.
        let nonce = given == "" ? nil : given ?? (isOpenID ? LoginSecret.random() : nil)
        idToken = IDTokenCheck(issuer: server.issuer?.absoluteString, clientID: clientID, nonce: nonce)
        var all = [
            FormParameter("response_type", "code"), FormParameter("client_id", clientID),
            FormParameter("redirect_uri", redirectURI), FormParameter("scope", scope ?? ""),
            FormParameter("state", state, isSecret: true),
            FormParameter("code_challenge", LoginSecret.challenge(of: verifier)),
            FormParameter("code_challenge_method", "S256"), FormParameter("dpop_jkt", key?.thumbprint ?? ""),
        ]
        if given == nil, let nonce { all.append(FormParameter("nonce", nonce)) }
        self.parameters = all + parameters.map { FormParameter($0.key, $0.value) }
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
    }

    /// The URL for the browser.
    func url(with parameters: [FormParameter]) throws(LoginError) -> URL {
        let present = URLComponents(url: endpoint, resolvingAgainstBaseURL: true)?.percentEncodedQuery
        // In a URL, every server reads %20 as a space, and not every one reads + so.
        let added = FormEncoding.body(parameters).replacingOccurrences(of: "+", with: "%20")
        let separator = present == nil ? "?" : present == "" ? "" : "&"
        guard let url = URL(string: endpoint.absoluteString + separator + added) else {
            throw .unusable("the authorization_endpoint makes no URL with a query")
        }
        return url
    }
}
