import AccessTokenContract
import Testing

@Suite("The contract, from Swift Testing")
struct ContractFromSwiftTestingTests {
    @Test(arguments: OwnSubjects.services)
    func `is kept`(by subject: ContractSubject) async {
        let report = await ServiceContract.verify(subject)
        #expect(report.isKept, "\(report)")
    }
}
