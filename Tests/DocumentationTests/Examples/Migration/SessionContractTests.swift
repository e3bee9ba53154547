import AccessTokenContract
import Testing

@Suite("What our session keeps of the contract")
struct SessionContractTests {
    @Test func `breaks what it always broke, and nothing else`() async {
        let report = await AccessTokenContract.verify(legacySubject, patience: .seconds(3))
        #expect(report.violations.map(\.clause.id) == ["O1", "O2", "O3", "D6", "D7"], "\(report)")
    }
}
