import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Replies of the token endpoint", .eightAtATime, .timeLimit(.minutes(10)))
struct ReplyTests {
    private let now = Date(timeIntervalSince1970: 1_792_000_000)
    private let reader = TokenReplyReader(secrets: ["RT0-secret", "s3cr:t +"])

    private func read(_ status: Int, _ body: String, retryAfter: String? = nil) -> TokenReply {
        reader.read(EndpointReply(status: status, retryAfter: retryAfter, body: Data(body.utf8)), at: now)
    }

    private func error(_ reply: TokenReply) -> OAuthError? {
        if case .failure(let error) = reply.result { error } else { nil }
    }

    @Test(
        arguments: [
            ("3600", 3600), (#""3600""#, 3600), ("0", 0), ("-1", 0), ("12.5", 12.5), ("1e300", 3_155_760_000),
            ("1e400", nil), ("null", nil), (#""soon""#, nil), (#""nan""#, nil), ("[]", nil), ("true", nil),
            (#""-5""#, 0), (#""inf""#, 3_155_760_000),
        ] as [(String, TimeInterval?)]
    )
    func `a lifetime is read in whatever way it is written`(json: String, seconds: TimeInterval?) throws {
        let reply = read(200, #"{"access_token":"A","token_type":"bearer","expires_in":\#(json)}"#)
        #expect(try reply.result.get().accessToken.expiration == seconds.map { now.addingTimeInterval($0) })
    }

    @Test(arguments: [#""""#, "7", "null", #""A B""#, #""ä""#, #""A\u0000""#, #""A\r\nX: 1""#])
    func `an access token that cannot be used is an error, and the refresh token beside it is saved`(json: String) {
        let reply = read(200, #"{"access_token":\#(json),"token_type":"Bearer","refresh_token":"RT1"}"#)
        #expect(error(reply)?.isTransient == false)
        #expect(error(reply)?.requiresSignIn == false)
        #expect(reply.rescuedRefreshToken == "RT1")
    }

    @Test func `a token without a type is taken for a bearer token, and one of another type is not`() throws {
        #expect(try read(200, #"{"access_token":"A"}"#).result.get().accessToken.value == "A")
        #expect(error(read(200, #"{"access_token":"A","token_type":"DPoP"}"#)) != nil)
    }

    @Test func `a refresh token with characters that none may have is refused`() {
        let reply = read(200, #"{"access_token":"A","token_type":"Bearer","refresh_token":"R\n1"}"#)
        #expect(error(reply) != nil)
        #expect(reply.refreshToken == nil)
    }

    @Test(arguments: [200, 204, 201], ["", "[]", #""x""#, #"{"access_token":"A""#, "<html>", "{}", "null"])
    func `a success that is not a token response is not understood`(status: Int, body: String) {
        let error = error(read(status, body))
        #expect(error?.isTransient == false)
        #expect(error?.requiresSignIn == false)
        #expect(error?.isConfigurationMistake == false)
    }

    @Test func `an error in a success is never a token`() {
        let reply = read(200, #"{"error":"bad_refresh_token","access_token":"A","refresh_token":"RT1"}"#)
        #expect(error(reply) == .notUnderstood(status: 200, "it has an error beside a token"))
        #expect(reply.rescuedRefreshToken == "RT1")
        #expect(error(read(200, #"{"error":{"code":1},"access_token":"A"}"#)) != nil)
        #expect(error(read(200, #"{"error":1,"access_token":"A"}"#)) != nil)
        #expect(error(read(200, #"{"error":true,"access_token":"A"}"#)) != nil)
        for none in ["null", "false", "0", "[]", "\"\""] {
            #expect(error(read(200, #"{"error":\#(none),"access_token":"A"}"#)) == nil)
        }
    }

    @Test(arguments: [400, 401, 403])
    func `the body decides what a refusal means, and not its status`(status: Int) {
        #expect(error(read(status, #"{"error":"invalid_grant"}"#))?.requiresSignIn == true)
        for code in ["invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "new_one"] {
            let error = error(read(status, #"{"error":"\#(code)"}"#))
            #expect(error?.isConfigurationMistake == true)
            #expect(error?.code == code)
        }
        #expect(error(read(status, #"{"error":"temporarily_unavailable"}"#))?.isTransient == true)
    }

    @Test(arguments: ["temporarily_unavailable", "server_error", "slow_down"])
    func `a code that asks for patience is no refusal, whatever its status`(code: String) {
        for status in [200, 400, 403] {
            let error = error(read(status, #"{"error":"\#(code)"}"#, retryAfter: "7"))
            #expect(error == .unavailable(status: status, retryAfter: 7))
        }
    }

    @Test func `an empty refusal is not understood, unless the app knows what its server means`() throws {
        #expect(error(read(400, "")) == .notUnderstood(status: 400, "it is empty"))
        let knowing = TokenReplyReader(secrets: []) { reply in
            reply.status == 403 && reply.text == "session closed" ? .refused("invalid_grant") : nil
        }
        func mapped(_ status: Int, _ body: String) -> TokenReply {
            knowing.read(EndpointReply(status: status, body: Data(body.utf8)), at: now)
        }
        #expect(error(mapped(403, " session closed\n"))?.requiresSignIn == true)
        #expect(error(mapped(403, "")) == .notUnderstood(status: 403, "it is empty"))
        #expect(error(mapped(503, "session closed"))?.isTransient == true)
    }

    @Test(arguments: [#"{"access_token":"A1"}"#, #"{"refresh_token":"RT1"}"#])
    func `a mapping is not asked about a reply that brings a token`(body: String) {
        let mapping = TokenReplyReader(secrets: []) { _ in .refused("invalid_grant") }
        let reply = mapping.read(EndpointReply(status: 200, body: Data(body.utf8)), at: now)
        #expect(error(reply)?.requiresSignIn != true)
    }

    @Test(
        arguments: [
            ("2", 2), (" 7 ", 7), ("0", 0), ("86400", 86_400), ("86401", nil), ("99999999999999999999", nil),
            ("soon", nil), ("-1", nil), ("1.5", nil), ("", nil),
        ] as [(String, TimeInterval?)]
    )
    func `seconds of Retry-After are believed up to a day`(field: String, seconds: TimeInterval?) {
        #expect(error(read(503, "", retryAfter: field)) == .unavailable(status: 503, retryAfter: seconds))
        #expect(error(read(429, "slow down", retryAfter: field)) == .unavailable(status: 429, retryAfter: seconds))
    }

    /// They end the process in the formatter of Foundation on Linux.
    @Test(arguments: [
        "Wed, 21 Oct \u{7A8}026 07:28:00 GMT", "Wed, 21 Oct \u{BBF}026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 é",
    ])
    func `a date of Retry-After with a character beyond ASCII is none`(field: String) {
        #expect(RetryAfter.seconds(field, at: .now) == nil)
    }

    @Test(
        arguments: [
            "Wed, 21 Oct 2026 07:28:00 GMT", "Wednesday, 21-Oct-26 07:28:00 GMT", "Wed Oct 21 07:28:00 2026",
        ]
    )
    func `a date of Retry-After is read in all of its three forms`(field: String) throws {
        let date = try Date("2026-10-21T07:28:00Z", strategy: .iso8601)
        #expect(RetryAfter.seconds(field, at: date.addingTimeInterval(-90)) == 90)
        #expect(RetryAfter.seconds(field, at: date.addingTimeInterval(90)) == 0)
        #expect(RetryAfter.seconds(field, at: date.addingTimeInterval(-100_000)) == nil)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `a server that cannot answer now is asked again later`(status: Int) {
        #expect(error(read(status, "<!doctype html><title>Server Error"))?.isTransient == true)
        #expect(error(read(status, #"{"error":"invalid_grant"}"#))?.isTransient == true)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is an error`(status: Int) {
        #expect(error(read(status, "")) == .redirected(status: status))
    }

    @Test func `what the server says in free text is shown to who asks for it, without what it repeats`() {
        let reply = read(
            400,
            #"{"error":"invalid_request","error_description":"no RT0-secret, s3cr:t +, s3cr%3At+%2B\u0007\n\u202e!"}"#
        )
        #expect(error(reply)?.serverExplanation == "no <hidden>, <hidden>, <hidden>!")
        #expect(everythingShown(by: error(reply) as Any).contains("<hidden>") == false)
    }

    /// Each is the secret `s3cr:t +&"` in another spelling.
    @Test(
        arguments: [
            "s3cr%3at%20%2b%26%22", "s3cr:t%20+", "s3cr:t +&amp;&quot;", "czNjcjp0ICsmIg==", "YXBwOnMzY3I6dCArJiI=",
            "s3cr:t +&\\u0022", "s3cr:t +&\\\"",
        ]
    )
    func `no error prints a secret that the server repeats, in whatever spelling`(echo: String) {
        let reader = TokenReplyReader(secrets: [#"s3cr:t +&""#])
        let body = #"{"error":"\#(echo)","error_description":"\#(echo)"}"#
        for status in [200, 400, 401, 503] {
            let reply = reader.read(EndpointReply(status: status, body: Data(body.utf8)), at: now)
            let shown = everythingShown(by: error(reply) as Any)
            for part in ["s3cr", "czNj", "MzY3"] { #expect(!shown.contains(part)) }
        }
    }

    @Test(arguments: ["RT0-secret", "rt0-SECRET", "UlQwLXNlY3JldA", "x.RT0-secret.y"])
    func `a code that repeats a secret is hidden, and one that is none is not understood`(code: String) {
        #expect(error(read(400, #"{"error":"\#(code)"}"#)) == .refused("<hidden>"))
        #expect(error(read(400, #"{"error":"no \#(code)"}"#)) == .notUnderstood(status: 400, "its error code is none"))
        let long = String(repeating: "x", count: 65)
        #expect(error(read(400, #"{"error":"\#(long)"}"#)) == .notUnderstood(status: 400, "its error code is none"))
    }

    @Test func `an error code has sixty-four characters at most`() {
        let longest = String(repeating: "x", count: 64)
        #expect(error(read(400, #"{"error":"\#(longest)"}"#)) == .refused(longest))
        #expect(error(read(400, #"{"error":"\#(longest)x"}"#)) == .notUnderstood(status: 400, "its error code is none"))
    }

    @Test func `an explanation is cut after two hundred characters`() {
        for (length, shown) in [(200, 200), (201, 200), (10_000, 200)] {
            let text = String(repeating: "é", count: length)
            let error = error(read(400, #"{"error":"invalid_request","error_description":"\#(text)"}"#))
            #expect(error?.serverExplanation?.count == shown)
        }
    }

    @Test func `a long explanation is cut`() {
        let long = String(repeating: "x", count: 10_000)
        let error = error(read(400, #"{"error":"\#(long)","error_description":"\#(long)"}"#))
        #expect(error.map { "\($0)".utf8.count < 1000 } == true)
    }
}
