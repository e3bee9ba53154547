import AccessTokenContract
import AccessTokenCore
import AccessTokenGCD
import Dispatch
import XCTest

/// Loads `token 1`, and in its place `token 2`, both valid for an hour.
struct HourlyLoader: AccessTokenLoader {
    let clock: ManualClock

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        let value = old == nil ? "token 1" : "token 2"
        handler(.success(AccessToken(value: value, expiration: clock.now.addingTimeInterval(3600))))
    }
}

final class CallbackTests: XCTestCase {
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
        let answered = expectation(description: "the handler is called")
        service.retrieveToken { _ in answered.fulfill() }
        wait(for: [answered], timeout: 10)
        return service.currentToken?.value
    }

    func testTwoCallersShareOneLoad() {
        let queue = DispatchQueue(label: "test")
        let service = AccessTokenService(
            loader: HourlyLoader(clock: ManualClock()),
            loaderQueue: queue,
            handlerQueue: queue
        )
        let answered = expectation(description: "both handlers are called")
        answered.expectedFulfillmentCount = 2
        for _ in 1...2 { service.retrieveToken { _ in answered.fulfill() } }
        queue.sync {}  // The loader is called, and answers.
        queue.sync {}  // The handlers are called.
        wait(for: [answered], timeout: 0)
        XCTAssertEqual(service.currentToken?.value, "token 1")
    }
}
