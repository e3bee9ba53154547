import AccessTokenContract
import XCTest

final class ContractFromXCTestTests: XCTestCase {
    func testOurServiceKeepsTheContract() async {
        let report = await ServiceContract.verify(OwnSubjects.all[0], scripts: 50)
        XCTAssert(report.isKept, "\(report)")
    }
}
