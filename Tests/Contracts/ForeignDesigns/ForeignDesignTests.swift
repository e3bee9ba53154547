import AccessTokenContract
import TestSupport
import Testing

@Suite("Designs of others", .eightAtATime, .timeLimit(.minutes(30)))
struct ForeignDesignTests {
    static let all: [ForeignDesign] = [
        .leaderClears, .preloading, .lateWaiters, .cancelledSession, .forcedRefresh, .twoSteps, .earlyCancellation,
    ]

    @Test(arguments: all)
    func `break exactly these clauses, and one less when repaired`(_ design: ForeignDesign) async {
        for _ in 1...runs {
            let report = await design.subject(false).report(timeLimit: 0.2)
            #expect(report.brokenIDs == design.broken, "\(report)")
            let repaired = await design.subject(true).report(timeLimit: 0.2)
            #expect(repaired.brokenIDs == design.broken.filter { $0 != design.repairs }, "\(repaired)")
        }
    }

    @Test func `a sign-out that first tells the server breaks what is about running loads, and nothing else`()
        async throws
    {
        for _ in 1...runs {
            let subject = RevokingSession.subject(isRepaired: false)
            let report = await subject.report(timeLimit: 0.2)
            #expect(report.brokenIDs == ["O1", "O4"], "\(report)")
            #expect(report.notJudged.map(\.id) == ["O5"], "\(report)")
            for violation in report.violations {
                #expect(violation.trace.contains("sign-out has not returned yet"), "\(violation)")
            }
            let repaired = await RevokingSession.subject(isRepaired: true).report()
            #expect(repaired.isKept, "\(repaired)")
        }
    }
}
