import AccessTokenContract
import XCTest

final class ContractFromXCTestTests: XCTestCase {
    func testOurSubjectsKeepTheContract() async {
        for subject in OwnSubjects.services {
            let report = await ServiceContract.verify(subject, scripts: 50)
            XCTAssert(report.isKept, "\(report)")
        }
    }
}
