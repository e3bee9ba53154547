import AccessTokenContract
import XCTest

final class ContractFromXCTestTests: XCTestCase {
    func testTheQueueServiceKeepsTheContract() async {
        let report = await AccessTokenContract.verify(OwnSubjects.queue)
        XCTAssert(report.isKept, "\(report)")
    }

    func testTheActorKeepsTheContract() async {
        let report = await AccessTokenContract.verify(OwnSubjects.actor)
        XCTAssert(report.isKept, "\(report)")
    }
}
