import AccessTokenContract
import TestSupport
import Testing

/// What cannot be asked of a subject of this package, and nothing else, is skipped.
@Suite("Of each own subject it is skipped", .eightAtATime)
struct OwnSubjectTests {
    @Test(arguments: verdictRuns == nil ? OwnSubjects.some : OwnSubjects.all)
    func `only that its callers are tasks, or handlers`(_ subject: ContractSubject) async {
        let isOfHandlers = subject.features.contains(.callbackLoader)
        let isObserved = subject.features.contains(.events)
        let expected =
            isOfHandlers ? ["I6", "I7", "X3"] + (isObserved ? [] : ["D11"]) : ["I6", "I7", "D3", "D4", "D7", "D11"]
        for _ in 1...runs {
            let report = await subject.report()
            #expect(report.skippedIDs == expected, "\(report)")
            #expect(report.isKept && report.advice.isEmpty, "\(report)")
        }
    }
}
