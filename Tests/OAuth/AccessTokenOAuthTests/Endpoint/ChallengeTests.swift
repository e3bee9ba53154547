import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A challenge during an exchange", .eightAtATime, .timeLimit(.minutes(10)))
struct ChallengeTests {
    private struct Answer: Hashable, Sendable {
        let disposition: URLSession.AuthChallengeDisposition
        var user: String?
    }

    /// What a challenge needs to be made; the answer goes elsewhere.
    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }

    private func answer(to method: String, _ handler: URLAuthenticationChallengeHandler?) throws -> Answer? {
        let url = try #require(URL(string: "https://api.example"))
        let challenge = URLAuthenticationChallenge(
            protectionSpace: URLProtectionSpace(
                host: "api.example",
                port: 443,
                protocol: "https",
                realm: nil,
                authenticationMethod: method
            ),
            proposedCredential: nil,
            previousFailureCount: 0,
            failureResponse: nil,
            error: nil,
            sender: Sender()
        )
        let exchange = HTTPExchange(URLRequest(url: url), bodyLimit: 0, challengeHandler: handler) { _ in }
        let answer = Locked<Answer?>(nil)
        let task = URLSession.shared.dataTask(with: url)
        exchange.urlSession(.shared, task: task, didReceive: challenge) { disposition, credential in
            answer.withLock { $0 = Answer(disposition: disposition, user: credential?.user) }
        }
        return answer.withLock { $0 }
    }

    private func accept(_ challenge: URLAuthenticationChallenge) -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    ) {
        let user = "for \(challenge.protectionSpace.host)"
        return (.useCredential, URLCredential(user: user, password: "", persistence: .none))
    }

    @Test func `that is about no password is the app's to answer, or the system's`() throws {
        let method = NSURLAuthenticationMethodNegotiate
        #expect(
            try answer(to: method) { accept($0) } == Answer(disposition: .useCredential, user: "for api.example")
        )
        #expect(try answer(to: method, nil) == Answer(disposition: .performDefaultHandling))
    }

    @Test(arguments: [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
    ])
    func `for a password is refused, also if the app would answer it`(method: String) throws {
        #expect(try answer(to: method) { accept($0) } == Answer(disposition: .rejectProtectionSpace))
    }
}
