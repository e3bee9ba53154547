import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Secrets in a server's words", .takesTurns, .endsHangs)
struct HiddenSecretTests {
    private func error(_ code: String, _ explanation: String = "", secrets: [String], status: Int = 400) -> OAuthError?
    {
        let body = #"{"error":"\#(code)","error_description":"\#(explanation)"}"#
        let reader = TokenReplyReader(secrets: secrets)
        let reply = TokenEndpointReply(status: status, body: Data(body.utf8))
        return reader.read(reply).error
    }

    @Test(
        arguments: [
            ("no RT0-secret, s3cr:t +, s3cr%3At+%2B\\u0007\\n\\u202e!", "no <hidden>, <hidden>, <hidden>!"),
            // What is taken out could break a secret in two.
            ("bad token RT0-sec\\nret", "bad token <hidden>"), ("RT0-sec\\u200bret", "<hidden>"),
            // Of one that begins with another, nothing is left over.
            ("bad RT0-secret-and-more", "bad <hidden>"),
            // One of three characters would hide half of every text.
            ("no abc here", "no abc here"), ("no abcd here", "no <hidden> here"),
            // In Base64 and in hexadecimal digits.
            ("UlQwLXNlY3JldA==", "<hidden>=="), ("5254302d736563726574", "<hidden>"),
        ]
    )
    func `are hidden in an explanation`(said: String, shown: String) {
        let secrets = ["RT0-secret", "s3cr:t +", "RT0-secret-and-more", "abc", "abcd"]
        let error = error("invalid_request", said, secrets: secrets)
        #expect(error?.serverExplanation == shown)
        #expect(!everythingShown(by: error as Any).contains(shown))
    }

    @Test func `are not the only thing that is cut: an explanation has two hundred characters at most`() {
        for (length, shown) in [(200, 200), (201, 200), (10_000, 200)] {
            let error = error("invalid_request", String(repeating: "é", count: length), secrets: [])
            #expect(error?.serverExplanation?.count == shown)
        }
        for (length, expected) in [(64, true), (65, false)] {
            let code = String(repeating: "x", count: length)
            let none = OAuthError.notUnderstood(status: 400, "its error code is none")
            #expect(error(code, secrets: []) == (expected ? .refused(code) : none))
        }
    }

    @Test(
        arguments: [
            "RT0-secret", "rt0-SECRET", "UlQwLXNlY3JldA", "x.RT0-secret.y", "5254302D736563726574", "RT0-secre",
        ]
    )
    func `are hidden in a code, and what is no code is not understood`(code: String) {
        #expect(error(code, secrets: ["RT0-secret"]) == .refused("<hidden>"))
        let none = OAuthError.notUnderstood(status: 400, "its error code is none")
        #expect(error("no \(code)", secrets: ["RT0-secret"]) == none)
    }

    /// Each is the secret `s3cr:t +&"` in another spelling.
    @Test(
        arguments: [
            "s3cr%3at%20%2b%26%22", "s3cr:t%20+", "s3cr:t +&amp;&quot;", "czNjcjp0ICsmIg==", "YXBwOnMzY3I6dCArJiI=",
            "s3cr:t +&\\u0022", "s3cr:t +&\\\"",
        ]
    )
    func `are in no error, in whatever spelling the server repeats them`(echo: String) {
        for status in [200, 400, 401, 503] {
            let shown = everythingShown(by: error(echo, echo, secrets: [#"s3cr:t +&""#], status: status) as Any)
            for part in ["s3cr", "czNj", "MzY3"] { #expect(!shown.contains(part)) }
        }
    }

    @Test func `are hidden where they stand in a proxy's URL, which the system repeats`() throws {
        let words = "Unsupported proxy syntax in 'http://user:s3cret@127.0.0.1:xyz'"
        let cause = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: words])
        let error = OAuthError(HTTPFailure(cause: cause, response: nil, hasSentBody: false), at: .now)
        #expect(!everythingShown(by: error).contains("s3cret"))
        #expect("\(error)".contains("Unsupported proxy syntax in <hidden>"))
    }

    @Test func `are also the values that were added to a grant`() {
        #expect(TokenGrant.clientCredentials().adding(["key": "K"]).parameters.last?.isSecret == true)
    }

    @Test func `do not hide a registered code that contains them, and hide one of the server's own`() {
        for code in ["invalid_client", "authorization_pending", "unsupported_token_type", "invalid_grant"] {
            #expect(error(code, secrets: ["client", "pending", "token", "grant", code])?.code == code)
        }
        #expect(error("client_is_blocked", secrets: ["client"]) == .refused("<hidden>"))
        // A word that everybody knows is shown in its usual spelling, however the server writes it.
        #expect(error("INVALID_CLIENT", secrets: ["client"]) == .refused("invalid_client"))
        // A dead refresh token is not kept for ever because of its name.
        #expect(error("bad_refresh_token", secrets: ["refresh"])?.requiresSignIn == true)
    }

    /// What a server may repeat of the proof: the whole header field, its value, the assertion.
    @Test(
        arguments: [
            .basic(clientID: "app", secret: "s3cret value"), .basicRaw(clientID: "app", secret: "s3cret value"),
            .postBody(clientID: "app", secret: "s3cret value"), .assertion(clientID: "app") { "s3cret value" },
        ] as [ClientAuthentication]
    )
    func `of a request are hidden, however the server repeats it`(authentication: ClientAuthentication) async throws {
        try await withServer { connection, request in
            let echo = (request.fields["authorization"] ?? "") + " " + request.body
            connection.reply(400, #"{"error":"invalid_client","error_description":"\#(echo)"}"#)
        } _: { server in
            let endpoint = try server.endpoint(authentication: authentication)
            let verifier = String(repeating: "v", count: 43)
            let grants: [TokenGrant] = [
                .refreshToken("RT0-x"), try .authorizationCode("RT0-x", redirectURI: nil, codeVerifier: verifier),
                .extensionGrant("urn:x", parameters: ["assertion": "RT0-x", "subject": verifier]),
            ]
            for number in 0...grants.count {
                let error = await #expect(throws: OAuthError.self) {
                    guard number < grants.count else { return try await endpoint.revoke("RT0-x") }
                    _ = try await endpoint.exchange(grants[number])
                }
                let text = try #require(error?.serverExplanation)
                #expect(text.contains("<hidden>"))
                let encoded = Data("app:s3cret".utf8).base64EncodedString().prefix(8)
                for secret in ["s3cret", "RT0-x", "vvvv", String(encoded)] { #expect(!text.contains(secret)) }
            }
        }
    }
}

@Suite("A request that failed below HTTP", .takesTurns, .endsHangs)
struct FailedExchangeTests {
    private func error(_ code: URLError.Code, _ text: String = "", hasSentBody: Bool = false) -> OAuthError {
        let cause = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
        return OAuthError(HTTPFailure(cause: cause, response: nil, hasSentBody: hasSentBody), at: .now)
    }

    @Test func `was not sent if none of its body was, and the system's reason is told`() {
        let error = error(.unknown, "Failed to connect:\n no route")
        #expect(!error.mayHaveBeenCarriedOut && error.isTransient)
        #expect("\(error)".contains("URLError -1: Failed to connect: no route"))
        #expect("\(error)".contains("nothing was sent"))
        #expect(!self.error(.timedOut).mayHaveBeenCarriedOut)
    }

    /// As Linux reports a reply that is not HTTP.
    @Test func `may have been carried out if any of its body was sent, whatever the code says`() {
        let lost = error(.unsupportedURL, "Received HTTP/0.9 when not allowed", hasSentBody: true)
        #expect(lost == .connectionLost(code: URLError.Code.unsupportedURL.rawValue))
        #expect(lost.mayHaveBeenCarriedOut && lost.isTransient && !lost.isConfigurationMistake)
        #expect(!"\(lost)".contains("nothing was sent"))
        #expect(error(.timedOut, hasSentBody: true) == .timedOut)
    }

    /// The last three as Linux reports them.
    @Test(
        arguments: [
            (.badURL, "", "URL"), (.unsupportedURL, "", "URL"),
            (.appTransportSecurityRequiresSecureConnection, "", "URL"),
            (.serverCertificateUntrusted, "", "certificate"), (.serverCertificateHasBadDate, "", "certificate"),
            (.clientCertificateRequired, "", "certificate"),
            (.unknown, "SSL certificate problem: self-signed certificate", "certificate"),
            (.unknown, "SSL: no alternative certificate subject name matches target host name 'a'", "certificate"),
            (.unknown, "server certificate verification failed. CAfile: none CRLfile: none", "certificate"),
        ] as [(URLError.Code, String, String)]
    )
    func `for its URL or certificate is not tried again, which would not help`(
        code: URLError.Code,
        text: String,
        culprit: String
    ) {
        let error = error(code, text)
        #expect(!error.isTransient && error.isConfigurationMistake && !error.mayHaveBeenCarriedOut)
        #expect("\(error)".contains(culprit == "URL" ? "Configure the URL" : "Check the certificate"))
        #expect(text.isEmpty || "\(error)".contains(text))
    }
}
