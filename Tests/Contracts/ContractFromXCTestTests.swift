import AccessTokenContract
import XCTest

final class ContractFromXCTestTests: XCTestCase {
    func testOurSubjectsKeepTheContract() async {
        for subject in OwnSubjects.services {
            let report = await ServiceContract.verify(subject)
            XCTAssert(report.isKept, "\(report)")
        }
    }
}
