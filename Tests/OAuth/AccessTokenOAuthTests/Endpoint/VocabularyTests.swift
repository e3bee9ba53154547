import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Grants, clients and errors", .takesTurns, .endsHangs)
struct VocabularyTests {
    private static let secret = "s3cr:t %+/&"
    private static let verifier = "dBjftJeZ4CVP-mBqSNz.~_KAAAAAAAAAAAAAAAAAAAA"

    private func requestSent(_ grant: TokenGrant, _ authentication: ClientAuthentication) async throws
        -> ReceivedRequest
    {
        try await withServer(replying: 200, #"{"access_token":"A","token_type":"Bearer"}"#) { server in
            _ = try await server.endpoint(authentication: authentication).exchange(grant)
            return try #require(server.requests.first)
        }
    }

    /// RFC 6749, section 2.3.1: one way to prove who the client is, and never two in one request.
    @Test(
        arguments: [
            (.none(clientID: "app"), nil, "&client_id=app"),
            (.basic(clientID: "app", secret: secret), "Basic YXBwOnMzY3IlM0F0KyUyNSUyQiUyRiUyNg==", ""),
            (.basicRaw(clientID: "app", secret: secret), "Basic YXBwOnMzY3I6dCAlKy8m", ""),
            // `URLRequest` drops a field that has line breaks, without a word.
            (.basicRaw(clientID: "app", secret: "a\r\nb\u{0}"), "Basic YXBwOmENCmIA", ""),
            (.postBody(clientID: "app", secret: secret), nil, "&client_id=app&client_secret=s3cr%3At+%25%2B%2F%26"),
        ] as [(ClientAuthentication, String?, String)]
    )
    func `a client proves in its own way who it is, and in no other`(
        authentication: ClientAuthentication,
        field: String?,
        parameters: String
    ) async throws {
        let request = try await requestSent(.refreshToken("a+b/\r\n=="), authentication)
        #expect(request.line == "POST /token HTTP/1.1")
        #expect(request.fields["content-type"] == "application/x-www-form-urlencoded")
        #expect(request.fields["accept"] == "application/json")
        #expect(request.fields["authorization"] == field)
        #expect(request.body == "grant_type=refresh_token&refresh_token=a%2Bb%2F%0D%0A%3D%3D" + parameters)
    }

    /// The example of RFC 6749, appendix B.
    @Test func `a form is encoded as UTF-8`() {
        #expect(FormEncoding.encoded(" %&+£€") == "+%25%26%2B%C2%A3%E2%82%AC")
    }

    @Test(
        arguments: try [
            (
                .authorizationCode("c+1", redirectURI: "app:/x?y", codeVerifier: verifier),
                "authorization_code&code=c%2B1&redirect_uri=app%3A%2Fx%3Fy&code_verifier=\(verifier)"
            ),
            (.clientCredentials(), "client_credentials"),
            (.clientCredentials(scope: "read write"), "client_credentials&scope=read+write"),
            (
                .extensionGrant(
                    "urn:x",
                    parameters: ["subject": "S", "audience": "a", "audience": "b", "resource": ""]
                )
                .adding(["more": "m"]),
                "urn%3Ax&subject=S&audience=a&audience=b&more=m"
            ),
        ] as [(TokenGrant, String)]
    )
    func `a grant sends its parameters in their order, leaves out empty ones, and names no scope by itself`(
        grant: TokenGrant,
        parameters: String
    ) async throws {
        let body = try await requestSent(grant, .none(clientID: "app")).body
        #expect(body == "grant_type=\(parameters)&client_id=app")
    }

    @Test(
        arguments: [
            "", "short", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
            "+" + String(repeating: "a", count: 50),
        ]
    )
    func `a verifier of a wrong length, or with other characters, is refused before anything is sent`(
        verifier: String
    ) {
        #expect(throws: OAuthError.invalidCodeVerifier) {
            try TokenGrant.authorizationCode("c", redirectURI: nil, codeVerifier: verifier)
        }
    }

    @Test func `an assertion is made for each request`() async throws {
        let made = Locked(0)
        let client = ClientAuthentication.assertion(clientID: nil) {
            made.withLock { made in
                made += 1
                return "jwt\(made)"
            }
        }
        for number in 1...2 {
            #expect(
                try await requestSent(.clientCredentials(), client).body
                    == "grant_type=client_credentials&client_assertion_type="
                    + "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=jwt\(number)"
            )
        }
    }

    @Test func `an assertion that cannot be made fails with its own error, and nothing is sent`() async throws {
        struct NoKey: Error, Equatable {}
        try await withServer(replying: 500) { server in
            let endpoint = try server.endpoint(authentication: .assertion(clientID: "app") { throw NoKey() })
            await #expect(throws: NoKey()) { try await endpoint.exchange(.clientCredentials()) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `nothing prints a secret`() throws {
        let url = try #require(URL(string: "https://user@api.example/path?key=s3cret"))
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpAdditionalHeaders = ["X-Key": "s3cret"]
        var endpoint = TokenEndpoint(url, authentication: .basic(clientID: "app", secret: "s3cret"), revocationURL: url)
        endpoint.configuration = configuration
        let token = AccessToken(value: "s3cret")
        let credential = Credential(accessToken: token, refreshToken: "s3cret", otherMembers: ["id_token": "s3cret"])
        let store = MemoryCredentialStore(credential)
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let service = AsyncAccessTokenService(loader: loader)
        let shown: [any Sendable] = [
            credential, CredentialRecord(credential: credential, version: 1), CredentialChange.replace(credential),
            ClientAuthentication.basicRaw(clientID: "app", secret: "s3cret"),
            ClientAuthentication.postBody(clientID: "app", secret: "s3cret"),
            TokenGrant.refreshToken("s3cret"),
            try TokenGrant.authorizationCode("s3cret", redirectURI: nil, codeVerifier: Self.verifier + "s3cret"),
            TokenGrant.extensionGrant("x", parameters: ["assertion": "s3cret"]),
            TokenResponse(accessToken: token, refreshToken: "s3cret", otherMembers: ["id_token": "s3cret"]),
            TokenEndpointReply(status: 400, body: Data("s3cret".utf8)), endpoint, store, loader, RetryingLoader(loader),
            ThrottlingLoader(loader),
            AsyncBearerSession(tokens: service, origins: [url], configuration: configuration),
            BearerSession(
                tokens: CallbackServiceAdapter(of: service),
                origins: [url],
                configuration: configuration
            ),
        ]
        for value in shown { #expect(!everythingShown(by: value).contains("s3cret")) }
        for value in shown { #expect(!everythingShown(by: [value]).contains("s3cret")) }
        #expect(everythingShown(by: endpoint).contains("/path"))
    }

    /// It comes from the server, which may write what it likes there.
    @Test func `nothing prints a scope`() {
        let scope = "s3cret\n2026-11-22 FATAL \u{1B}[31m"
        let response = TokenResponse(accessToken: AccessToken(value: "A"), refreshToken: "s3cret", scope: scope)
        #expect(response.scope == scope)
        for value in [response, Credential(response), [response], [Credential(response)]] as [any Sendable] {
            let shown = everythingShown(by: value)
            for part in ["s3cret", "FATAL", "\u{1B}", "\\u{1B}"] { #expect(!shown.contains(part)) }
        }
    }

    @Test func `each error says what to do next, in one of four ways`() {
        let errors: [(OAuthError, String)] = [
            (.refused("invalid_grant"), "sign in again"), (.refused("invalid_client"), "identifier, secret"),
            (.refused("other", explanation: "why"), "refused with other"), (.redirected(status: 307), "present URL"),
            (.unavailable(status: 503, retryAfter: 2), "after 2.0 s"), (.unavailable(status: 500), "later"),
            (.unreachable(code: -1004), "nothing answers at that host and port); nothing was sent"),
            (.unreachable(code: -1003), "URLError -1003: no host of that name"),
            (.connectionLost(code: -1), "once again"), (.unreachable(code: -1, system: "no trust"), "-1: no trust)"),
            (.timedOut, "later"), (.notUnderstood(status: 200, "it is not JSON"), "it is not JSON"),
            (.bodyTooLong, "megabyte"), (.insecureEndpoint, "https"), (.invalidCodeVerifier, "43"),
        ]
        for (error, text) in errors {
            #expect("\(error)".contains(text))
            // Without a word that only programmers know.
            #expect(error.localizedDescription.wholeMatch(of: /[A-Z][a-z ,.A-Z-]+\./) != nil)
            let asksForLogin = error.requiresSignIn || error.sessionMayBeSpent
            #expect(!asksForLogin || error.localizedDescription.contains("Sign in"))
            #expect(error.logCode.wholeMatch(of: /[a-z0-9_]+/) != nil)
            #expect([error.requiresSignIn, error.isTransient, error.isConfigurationMistake].count { $0 } <= 1)
        }
    }

    @Test(arguments: [
        (OAuthError.refused("invalid_grant", explanation: "s3cret"), "invalid_grant"),
        (.unavailable(status: 503), "http_503"), (.timedOut, "timed_out"),
    ])
    func `a service's events say which error it was`(error: OAuthError, code: String) async {
        let event = await withCheckedContinuation { continuation in
            let service = AsyncAccessTokenService(loader: ListLoader(.failure(error))) { event in
                if event.kind == .loadFailed { continuation.resume(returning: event) }
            }
            Task { try await service.token() }
        }
        #expect("\(event)".hasSuffix("with OAuthError, \(code)"), "\(event)")
    }

    @Test func `what was sent may have been carried out, unless the server says that it was not`() {
        let carriedOut: [OAuthError] = [
            .connectionLost(code: -1005), .unreadableHead(), .timedOut, .bodyTooLong,
        ]
        let notCarriedOut: [OAuthError] = [
            .refused("invalid_grant"), .redirected(status: 307), .unreachable(code: -1004), .insecureEndpoint,
            .invalidCodeVerifier, .assertionTimedOut, .unavailable(status: 503, retryAfter: 0),
        ]
        for error in carriedOut { #expect(error.mayHaveBeenCarriedOut, "\(error)") }
        for error in notCarriedOut { #expect(!error.mayHaveBeenCarriedOut, "\(error)") }
        for (status, expected) in [(100, false), (200, true), (299, true), (300, false), (400, false)] {
            #expect(OAuthError.notUnderstood(status: status, "").mayHaveBeenCarriedOut == expected, "\(status)")
        }
        // A gateway's status says that another server may have done the work.
        for status in [408, 429, 500, 501, 502, 503, 504, 511, 512, 524] {
            let isGateways = [502, 503, 504, 512, 524].contains(status)
            #expect(OAuthError.unavailable(status: status).mayHaveBeenCarriedOut == isGateways, "\(status)")
        }
        #expect(OAuthError.unavailable(status: 504, retryAfter: 0).mayHaveBeenCarriedOut)
    }
}
