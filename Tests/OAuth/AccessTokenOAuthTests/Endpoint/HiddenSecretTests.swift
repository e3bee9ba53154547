import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Secrets in a server's explanation", .eightAtATime, .timeLimit(.minutes(10)))
struct HiddenSecretTests {
    private func refusal(_ explanation: String, _ secrets: [String]) -> String {
        let body = #"{"error":"invalid_grant","error_description":"\#(explanation)"}"#
        let reader = TokenReplyReader(secrets: secrets)
        let reply = reader.read(EndpointReply(status: 400, body: Data(body.utf8)), at: Date(timeIntervalSince1970: 0))
        return reply.error?.serverExplanation ?? ""
    }

    @Test(arguments: ["\\n", "\\u200b", "\\u00ad"])
    func `one that is broken by what is taken out is hidden as well`(separator: String) {
        let text = refusal("bad token RT0-sec\(separator)ret-value", ["RT0-secret-value"])
        #expect(text.contains("bad token <hidden>"))
        #expect(!text.contains("RT0-secret-value"))
    }

    @Test func `one of four characters is hidden, and one of three would hide half of every text`() {
        #expect(refusal("no abcd here", ["abcd"]) == "no <hidden> here")
        #expect(refusal("no abc here", ["abc"]) == "no abc here")
    }

    /// What a server may repeat of the proof: the whole header field, its value, the assertion.
    @Test(
        arguments: [
            .basic(clientID: "app", secret: "s3cret value"), .basicRaw(clientID: "app", secret: "s3cret value"),
            .postBody(clientID: "app", secret: "s3cret value"), .assertion(clientID: "app") { "s3cret value" },
        ] as [ClientAuthentication]
    )
    func `the proof of the client is hidden, however the server repeats it`(authentication: ClientAuthentication)
        async throws
    {
        try await withServer { connection, request in
            let echo = (request.fields["authorization"] ?? "") + " " + request.body
            connection.reply(400, #"{"error":"invalid_client","error_description":"\#(echo)"}"#)
        } _: { server in
            let endpoint = try server.endpoint(authentication: authentication)
            let error = await #expect(throws: OAuthError.self) { try await endpoint.exchange(.refreshToken("RT0-x")) }
            let text = try #require(error?.serverExplanation)
            #expect(text.contains("<hidden>"))
            for secret in ["s3cret", "RT0-x", String(Data("app:s3cret".utf8).base64EncodedString().prefix(8))] {
                #expect(!text.contains(secret))
            }
        }
    }

    @Test func `a code and its verifier are hidden, and so is what an extension sends`() async throws {
        try await withServer { connection, request in
            connection.reply(400, #"{"error":"invalid_grant","error_description":"\#(request.body.suffix(120))"}"#)
        } _: { server in
            let verifier = String(repeating: "v", count: 43)
            for grant in [
                try TokenGrant.authorizationCode("the-code", redirectURI: nil, codeVerifier: verifier),
                .extensionGrant("urn:x", parameters: ["assertion": "the-code", "subject": verifier]),
            ] {
                let error = await #expect(throws: OAuthError.self) { try await server.endpoint().exchange(grant) }
                let text = try #require(error?.serverExplanation)
                #expect(text.contains("<hidden>"))
                #expect(!text.contains("the-code") && !text.contains("vvvv"))
            }
        }
    }

    @Test(arguments: [("\u{0F}", "%0F"), ("\u{10}", "%10"), ("\u{7F}", "%7F"), ("é", "%C3%A9")])
    func `each byte of a form is two digits`(text: String, encoded: String) {
        #expect(FormEncoding.encoded(text) == encoded)
    }

    @Test func `one that begins with another is hidden whole`() {
        let text = refusal("bad appsecret-and-the-token", ["appsecret", "appsecret-and-the-token"])
        #expect(text.contains("bad <hidden>"))
        #expect(!text.contains("and-the-token"))
    }
}

@Suite("A secret that a registered code contains", .eightAtATime, .timeLimit(.minutes(10)))
struct RegisteredCodeTests {
    private func error(_ code: String, _ secrets: String...) -> OAuthError? {
        let body = Data(#"{"error":"\#(code)"}"#.utf8)
        return TokenReplyReader(secrets: secrets).read(EndpointReply(status: 400, body: body), at: .now).error
    }

    @Test func `does not hide what the server says`() {
        #expect(error("invalid_client", "client")?.code == "invalid_client")
        #expect(error("unauthorized_client", "client", "rized")?.code == "unauthorized_client")
        #expect(error("authorization_pending", "pending")?.code == "authorization_pending")
        #expect(error("invalid_token", "token")?.code == "invalid_token")
        #expect(error("unsupported_token_type", "token")?.code == "unsupported_token_type")
    }

    @Test(arguments: ["invalid_grant", "bad_refresh_token", "invalid_refresh_token"])
    func `does not keep a dead refresh token for ever`(code: String) {
        #expect(error(code, "invalid", "refresh", "grant", code)?.requiresSignIn == true)
    }

    @Test func `hides a code of the server's own`() {
        #expect(error("client_is_blocked", "client") == .refused("<hidden>"))
        #expect(error("INVALID_CLIENT", "client") == .refused("<hidden>"))
    }
}

@Suite("A request that failed below HTTP", .eightAtATime, .timeLimit(.minutes(10)))
struct FailedExchangeTests {
    private func error(_ code: URLError.Code, _ text: String, hasSentBody: Bool) -> OAuthError {
        let cause = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
        return OAuthError(failedExchange: cause, hasSentBody: hasSentBody)
    }

    /// As Linux reports a certificate that nobody trusts.
    @Test func `was not sent if none of its body was, and the system's reason is told`() {
        let error = error(.unknown, "SSL certificate problem:\n self-signed certificate", hasSentBody: false)
        #expect(!error.mayHaveBeenCarriedOut)
        #expect(error.isTransient)
        #expect("\(error)".contains("URLError -1: SSL certificate problem: self-signed certificate"))
        #expect("\(error)".contains("nothing was sent"))
    }

    /// As Linux reports a reply that is not HTTP.
    @Test func `may have been carried out if any of its body was sent, whatever the code says`() {
        let error = error(.unsupportedURL, "Received HTTP/0.9 when not allowed", hasSentBody: true)
        #expect(error == .connectionLost(code: URLError.Code.unsupportedURL.rawValue))
        #expect(error.mayHaveBeenCarriedOut)
        #expect(!error.isConfigurationMistake)
        #expect(!"\(error)".contains("nothing was sent"))
    }

    @Test func `timed out before it was sent, or after`() {
        #expect(error(.timedOut, "", hasSentBody: true) == .timedOut)
        #expect(!error(.timedOut, "", hasSentBody: false).mayHaveBeenCarriedOut)
    }
}

@Suite("A URL that the system does not try", .eightAtATime, .timeLimit(.minutes(10)))
struct UnusableURLTests {
    @Test(arguments: [URLError.Code.badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection])
    func `is a mistake of configuration, and not tried again`(code: URLError.Code) {
        let error = OAuthError.unreachable(code: code.rawValue)
        #expect(!error.isTransient)
        #expect(error.isConfigurationMistake)
        #expect("\(error)".contains("Configure the URL"))
        #expect(OAuthError.unreachable(code: URLError.Code.cannotConnectToHost.rawValue).isTransient)
    }
}
