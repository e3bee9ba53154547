import AccessTokenContract
import Testing

@Suite("The critical clauses, with progress on standard error")
struct CriticalClausesTests {
    @Test func `are told one by one`() async {
        let report = await ServiceContract.verify(
            legacySubject,
            clauses: ServiceContract.clauses.filter { $0.severity == .critical },
            timeLimit: .seconds(2),
            onProgress: ContractProgress.standardError
        )
        #expect(report.brokenIDs == ["O1", "O2", "O3", "D6", "D7"], "\(report)")
    }
}
