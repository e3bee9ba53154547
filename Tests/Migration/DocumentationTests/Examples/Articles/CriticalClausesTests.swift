import AccessTokenContract
import TestSupport
import Testing

@Suite("The critical clauses, with a longer time limit", .thorough)
struct CriticalClausesTests {
    @Test func `are verified alone`() async {
        let report = await ServiceContract.verify(
            legacySubject,
            clauses: ServiceContract.clauses.filter { $0.severity == .critical },
            timeLimit: 2
        )
        #expect(report.brokenIDs == ["O1", "O2", "O3", "D6", "D7"], "\(report)")
    }
}
