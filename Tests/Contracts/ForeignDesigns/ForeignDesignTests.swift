import AccessTokenContract
import TestSupport
import Testing

@Suite("Designs of others", .eightAtATime, .timeLimit(.minutes(30)))
struct ForeignDesignTests {
    static let all: [ForeignDesign] = [
        .sharedTask, .leaderClears, .leader, .lockedRequest, .lockedErrors, .weakInterceptor, .stickyError, .preloading,
        .lateSession,
        .lateWaiters, .cancelledSession, .forcedRefresh, .twoSteps, .takingTurns,
        .earlyCancellation,
    ]

    @Test(arguments: all)
    func `break exactly these clauses, and one less when repaired`(_ design: ForeignDesign) async {
        for _ in 1...runs {
            let report = await ServiceContract.verify(design.subject(false), onProgress: nil)
            #expect(report.brokenIDs == design.broken, "\(report)")
            let repaired = await ServiceContract.verify(design.subject(true), onProgress: nil)
            #expect(repaired.brokenIDs == design.broken.filter { $0 != design.repairs }, "\(repaired)")
        }
    }

    @Test func `a sign-out that first tells the server breaks what is about running loads, and nothing else`()
        async throws
    {
        for _ in 1...runs {
            let report = await ServiceContract.verify(RevokingSession.subject(isRepaired: false), onProgress: nil)
            #expect(report.brokenIDs == ["O1", "O4"], "\(report)")
            #expect(report.notJudged.map(\.id) == ["O5"], "\(report)")
            for violation in report.violations {
                #expect(violation.trace.contains("sign-out has not returned yet"), "\(violation)")
            }
            let repaired = await ServiceContract.verify(RevokingSession.subject(isRepaired: true), onProgress: nil)
            #expect(repaired.isKept, "\(repaired)")
        }
    }
}
