import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What an app shows of an error", .takesTurns)
struct TextsForUsersTests {
    static let errors: [any Error & Sendable] = exchange + login + session

    private static let exchange: [OAuthError] = [
        .refused("invalid_grant"), .refused("login_required"), .refused("invalid_client"), .refused("access_denied"),
        .unavailable(status: 503), .notUnderstood(status: 200, "no JSON"), .notUnderstood(status: 404, "no JSON"),
        .unusableToken("of type mac"), .redirected(status: 307), .bodyTooLong, .unreachable(code: -1004),
        .unreachable(code: -1202), .connectionLost(code: -1005), .unreadableHead(), .timedOut, .heldBack("no JSON"),
        .insecureEndpoint, .userInEndpoint, .invalidCodeVerifier, .assertionTimedOut,
    ]

    private static let login: [LoginError] = [
        .serverRefused("access_denied"), .serverRefused("login_required"), .serverRefused("invalid_scope"),
        .serverRefused("server_error"), .windowClosed, .nobodyCameBack, .deviceCodeExpired, .foreignRedirect,
        .wrongState,
        .alreadyAnswered, .badRedirect("code", "missing"), .unusable("no https"),
        .wrongIssuer(expected: "a", found: "b"),
        .badMetadata("no JSON"), .portTaken(8080), .noDescriptorLeft, .strangeReply(.metadata, status: 404, "no JSON"),
        .failed(.deviceEndpoint, .timedOut),
    ]

    private static let session: [BearerSessionError] = [
        .originNotAllowed("https://a:443"), .insecureOrigin("http://a:80"), .authorizationAlreadySet, .unsendableToken,
        .bodyTooLong(limit: 10),
    ]

    @Test(arguments: errors)
    func `is a sentence on what happened and one on what to do, without a word of programmers`(
        error: any Error & Sendable
    ) {
        let shown = error.localizedDescription
        #expect(shown.wholeMatch(of: /[A-Z][a-z' ,:-]+\. [A-Z][a-z' ,-]+\./) != nil, "\(error): \(shown)")
        for word in ["token", "endpoint", "redirect", "origin", "header", "metadata", "body", "code", "call "] {
            #expect(!shown.contains(word), "\(error): \(shown)")
        }
        #expect("\(error)" != shown, "programmers are told more")
    }

    @Test(arguments: exchange)
    func `names the step that can help`(error: OAuthError) {
        let shown = error.localizedDescription
        let asksForLogin = error.requiresSignIn || error.sessionMayBeSpent
        #expect(shown.hasSuffix("Sign in again.") == asksForLogin, "\(error): \(shown)")
        #expect(shown.hasSuffix("Try again in a moment.") == error.isTransient, "\(error): \(shown)")
    }
}
