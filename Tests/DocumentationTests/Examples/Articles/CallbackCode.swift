import AccessTokenGCD
import Synchronization
import XCTest

enum CallbackCode {
    struct Friends: Sendable {
        let tokens: any AccessTokenProviding
        let server: FriendsServer

        func load(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
            send(repeatsWhenRejected: true, then: handler)
        }

        private func send(
            repeatsWhenRejected: Bool,
            then handler: @escaping @Sendable (Result<[String], any Error>) -> Void
        ) {
            tokens.retrieveToken { result in
                switch result {
                case .failure(let error): handler(.failure(error))
                case .success(let token):
                    server.friends(bearer: token.value) { reply in
                        if case .success(let reply) = reply, reply.status == 401, repeatsWhenRejected {
                            tokens.invalidate(token)
                            send(repeatsWhenRejected: false, then: handler)
                        } else {
                            handler(reply.map(\.friends))
                        }
                    }
                }
            }
        }
    }

    final class FriendsScreen: Sendable {
        private let retrieval: AccessTokenRetrieval

        init(tokens: any AccessTokenProviding, show: @escaping @Sendable (Result<AccessToken, any Error>) -> Void) {
            retrieval = tokens.retrieveToken(then: show)
        }

        deinit { retrieval.cancel() }
    }

    static func session(
        of service: AccessTokenService,
        from firstToken: AccessToken,
        forgetWhatIsOnTheScreen: @escaping @Sendable () -> Void
    ) {
        service.signIn(firstToken)
        service.signOut { forgetWhatIsOnTheScreen() }
    }
}

final class ExpiryTests: XCTestCase {
    func testATokenThatHasExpiredIsLoadedAnew() {
        let clock = ManualClock()
        let service = AccessTokenService(loader: HourlyLoader(clock: clock), clock: clock)
        XCTAssertEqual(token(of: service), "token 1")
        clock.advance(by: 3500)
        XCTAssertEqual(token(of: service), "token 1")
        clock.advance(by: 70)  // 30 s before its end it counts as expired.
        XCTAssertEqual(token(of: service), "token 2")
    }

    private func token(of service: AccessTokenService) -> String? {
        let value = Mutex<String?>(nil)
        let answered = expectation(description: "the handler is called")
        service.retrieveToken { result in
            value.withLock { $0 = try? result.get().value }
            answered.fulfill()
        }
        wait(for: [answered], timeout: 10)
        return value.withLock { $0 }
    }
}
