import AccessTokenContract
import AccessTokenGCD
import Dispatch
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

final class DrainedQueueTests: XCTestCase {
    func testTwoCallersShareOneLoad() {
        let queue = DispatchQueue(label: "test")
        let service = AccessTokenService(
            loader: HourlyLoader(clock: ManualClock()),
            loaderQueue: queue,
            handlerQueue: queue
        )
        let values = Mutex<[String?]>([])
        for _ in 1...2 {
            service.retrieveToken { result in values.withLock { $0.append(try? result.get().value) } }
        }
        queue.sync {}  // The loader is called, and answers.
        XCTAssertEqual(values.withLock { $0 }, [])
        queue.sync {}  // The handlers are called.
        XCTAssertEqual(values.withLock { $0 }, ["token 1", "token 1"])
    }
}
