import AccessTokenContract
import XCTest

final class ContractFromXCTestTests: XCTestCase {
    func testOurSubjectsKeepTheContract() async {
        for subject in OwnSubjects.services {
            let report = await ServiceContract.verify(subject, scripts: 0)
            XCTAssert(report.isKept, "\(report)")
        }
    }
}
