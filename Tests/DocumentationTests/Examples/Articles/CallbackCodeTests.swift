import AccessTokenContract
import AccessTokenGCD
import Synchronization
import XCTest

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
