import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Codes of the device grant (RFC 8628, section 3.5)", .eightAtATime, .timeLimit(.minutes(10)))
struct DeviceGrantTests {
    private func error(_ code: String, status: Int = 400, retryAfter: String? = nil) -> OAuthError? {
        let body = Data(#"{"error":"\#(code)"}"#.utf8)
        return TokenReplyReader(secrets: ["device-code"])
            .read(EndpointReply(status: status, retryAfter: retryAfter, body: body), at: .now).error
    }

    @Test(
        arguments: [
            ("authorization_pending", "poll again"), ("slow_down", "5 s slower"), ("expired_token", "anew"),
            ("access_denied", "user refused"),
        ]
    )
    func `can be read, and say what to do next`(code: String, advice: String) throws {
        for error in [try #require(error(code)), .refused(code)] {
            #expect(error.code == code)
            #expect(!error.isConfigurationMistake)
            // The record of a session is not removed for them: none of them speaks of a refresh token.
            #expect(!error.requiresSignIn)
            #expect(!error.mayHaveBeenCarriedOut)
            #expect("\(error)".contains(code))
            #expect("\(error)".contains(advice))
            #expect(!"\(error)".contains("grant is kept"))
        }
    }

    @Test func `that ask to poll again or to stop are not tried again by a loader`() {
        for code in ["authorization_pending", "expired_token", "access_denied"] {
            #expect(error(code)?.isTransient == false)
        }
    }

    @Test func `that ask for slower polls are a pause of five seconds or more`() {
        #expect(error("slow_down")?.isTransient == true)
        #expect(error("slow_down")?.retryAfter == 5)
        #expect(error("slow_down", retryAfter: "2")?.retryAfter == 5)
        #expect(error("slow_down", status: 429)?.code == "slow_down")
        #expect(error("slow_down", status: 429)?.retryAfter == 5)
        #expect(error("invalid_grant", status: 503)?.code == nil)
        #expect(error("invalid_grant", status: 503)?.requiresSignIn == false)
        #expect(error("slow_down", retryAfter: "9")?.retryAfter == 9)
        #expect(error("temporarily_unavailable")?.retryAfter == nil)
    }

    @Test(arguments: ["temporarily_unavailable", "server_error"])
    func `of servers that cannot answer can be read as well`(code: String) {
        #expect(error(code)?.code == code)
        #expect(error(code)?.isTransient == true)
    }

    @Test func `that ask for slower polls make a retrying loader wait`() async throws {
        let clock = ManualClock()
        let slowDown = try #require(error("slow_down"))
        let base = ListLoader(.failure(slowDown), .success(AccessToken(value: "A")))
        let loader = RetryingLoader(base, clock: clock) { $0.lowerBound }
        let load = Task { try await loader.load(replacing: nil) }
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: 4.9)
        #expect(clock.pendingTimers == 1)
        clock.advance(by: 0.2)
        #expect(try await load.valueInTime.value == "A")
    }
}
