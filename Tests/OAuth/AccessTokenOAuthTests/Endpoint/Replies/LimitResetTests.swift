import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("When a limit ends, by a server without Retry-After")
struct LimitResetTests {
    private let now = Date(timeIntervalSince1970: 1_792_000_000)

    private func pause(_ fields: [String: String], status: Int = 429, body: String = "") -> TimeInterval? {
        let reply = TokenEndpointReply(status: status, headers: fields, body: Data(body.utf8), received: now)
        return TokenReplyReader(secrets: [], grant: .renewal).read(reply).error?.retryAfter
    }

    @Test(arguments: ["X-RateLimit-Reset", "x-rate-limit-reset", "RateLimit-Reset", "X-Rate-Limit-Reset"])
    func `is an instant, or a number of seconds: the size tells which`(name: String) {
        #expect(pause([name: "1792000060"]) == 60)
        #expect(pause([name: "1792000060.5"]) == 60.5)
        #expect(pause([name: "1792000060000"]) == 60)
        #expect(pause([name: "30"]) == 30)
        #expect(pause([name: "0"]) == 0)
        #expect(pause([name: "86400"]) == 86_400)
    }

    @Test(arguments: [
        "", "soon", "-5", "86401", "500000000", "1e3", "17920000600000000", "0x10", "30, 40", "30;w=60",
        "2026-10-14T17:48:00Z",
    ])
    func `is not read from what may mean anything`(value: String) {
        #expect(pause(["X-RateLimit-Reset": value]) == nil)
    }

    @Test func `is an instant of the server's clock, if the reply tells that`() {
        let late = "Wed, 14 Oct 2026 17:46:20 GMT"  // 20 s before `now`
        #expect(pause(["X-RateLimit-Reset": "1792000060", "Date": late]) == 80)
        // A machine whose clock is years behind.
        #expect(pause(["X-RateLimit-Reset": "1892000060"]) == nil)
        #expect(pause(["X-RateLimit-Reset": "1892000060", "Date": "Thu, 15 Dec 2029 03:33:20 GMT"]) != nil)
        // One that is years ahead.
        #expect(pause(["X-RateLimit-Reset": "1692000060"]) == 0)
    }

    @Test func `is no more than a day`() {
        let early = "Tue, 06 Oct 2026 00:00:00 GMT"
        #expect(pause(["X-RateLimit-Reset": "1792000060", "Date": early]) == 86_400)
    }

    /// Auth0 and others send such fields with every reply.
    @Test func `counts only for a limit that is reached`() {
        #expect(pause(["X-RateLimit-Reset": "30", "X-RateLimit-Remaining": "29"]) == nil)
        #expect(pause(["X-RateLimit-Reset": "30", "X-RateLimit-Remaining": "0"]) == 30)
        #expect(pause(["X-RateLimit-Reset": "30"], status: 500) == nil)
        let limit = #"{"message":"API rate limit exceeded"}"#
        #expect(pause(["X-RateLimit-Reset": "30", "x-ratelimit-remaining": "0"], status: 403, body: limit) == 30)
        #expect(pause(["X-RateLimit-Reset": "30"], status: 403, body: limit) == nil)
    }

    @Test func `yields to what is said more clearly`() {
        #expect(pause(["X-RateLimit-Reset": "1792000060", "Retry-After": "12"]) == 12)
        #expect(pause(["X-RateLimit-Reset": "1792000060"], body: #"{"retry_after":7}"#) == 7)
        #expect(pause(["X-RateLimit-Reset": "1792000060", "X-RateLimit-Reset-After": "9.5"]) == 9.5)
    }

    /// No field makes a refusal out of what is none, or the other way round.
    @Test func `changes no meaning`() {
        let fields = ["X-RateLimit-Reset": "30", "X-RateLimit-Remaining": "0"]
        for (body, meaning) in [
            (#"{"error":"invalid_grant"}"#, ReplyMeaning.sessionEnded), (#"{"error":"invalid_client"}"#, .mistake),
        ] {
            let reply = TokenEndpointReply(status: 400, headers: fields, body: Data(body.utf8), received: now)
            #expect(TokenReplyReader(secrets: [], grant: .renewal).read(reply).error?.meaning == meaning)
        }
    }
}
