import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A challenge during an exchange", .takesTurns, .endsHangs)
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

    private func answer(
        to method: String,
        ofProxy isProxy: Bool = false,
        _ handler: URLAuthenticationChallengeHandler?
    ) throws -> Answer? {
        let url = try #require(URL(string: "https://api.example"))
        let challenge = URLAuthenticationChallenge(
            protectionSpace: isProxy
                ? URLProtectionSpace(
                    proxyHost: "proxy.example",
                    port: 3128,
                    type: NSURLProtectionSpaceHTTPSProxy,
                    realm: nil,
                    authenticationMethod: method
                )
                : URLProtectionSpace(
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

    private let accept: URLAuthenticationChallengeHandler = { challenge in
        let user = "for \(challenge.protectionSpace.host)"
        return (.useCredential, URLCredential(user: user, password: "", persistence: .none))
    }
    private static let passwordMethods = [
        NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
    ]

    @Test func `that is about no password is the app's to answer, or else the system's, and a password is refused`()
        throws
    {
        let negotiate = NSURLAuthenticationMethodNegotiate
        #expect(try answer(to: negotiate, accept) == Answer(disposition: .useCredential, user: "for api.example"))
        #expect(try answer(to: negotiate, nil) == Answer(disposition: .performDefaultHandling))
        for method in Self.passwordMethods {
            #expect(try answer(to: method, accept) == Answer(disposition: .rejectProtectionSpace))
        }
    }

    /// It says nothing of the client, which is known to the server behind the proxy.
    @Test(arguments: passwordMethods)
    func `of a proxy that wants a password is the app's to answer, or else the system's`(method: String) throws {
        let answered = Answer(disposition: .useCredential, user: "for proxy.example")
        #expect(try answer(to: method, ofProxy: true, accept) == answered)
        #expect(try answer(to: method, ofProxy: true, nil) == Answer(disposition: .performDefaultHandling))
    }
}
