import AccessTokenContract
import Testing

@Suite("What our session keeps of the contract")
struct SessionContractTests {
    @Test func `breaks what it always broke, and nothing else`() async {
        let report = await ServiceContract.verify(legacySubject)
        #expect(report.brokenIDs == ["O1", "O2", "O3", "O4", "D6", "D7"], "\(report)")
    }
}
