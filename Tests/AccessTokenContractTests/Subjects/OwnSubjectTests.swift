import AccessTokenContract
import TestSupport
import Testing

/// What cannot be asked of a subject of this package, and nothing else, is skipped.
@Suite("Of each own subject it is skipped", .eightAtATime)
struct OwnSubjectTests {
    @Test func `only that its callers are tasks, or handlers`() async {
        let ofTasks = ["I6", "I7", "D3", "D4", "D7", "D11"]
        let ofHandlers = ["I6", "I7", "X3"]
        let expected = [
            "the queue service": ofHandlers,
            "the actor": ofTasks,
            "the queue service as async, with an async loader": ofTasks,
            "the actor as callback, with a callback loader": ofHandlers,
            "the queue service as async as callback, with both loader adapters": ofHandlers,
            "the actor as callback as async, with both loader adapters": ofTasks,
        ]
        #expect(OwnSubjects.observed.map(\.name).sorted() == expected.keys.sorted())
        for subject in Array(repeating: OwnSubjects.observed, count: runs).joined() {
            let report = await ServiceContract.verify(subject)
            #expect(report.skippedIDs == expected[subject.name], "\(report)")
            #expect(report.isKept && report.advice.isEmpty, "\(report)")
        }
        // Without events, one clause more.
        for subject in OwnSubjects.unobserved where subject.features.contains(.callbackLoader) {
            let report = await ServiceContract.verify(subject)
            #expect(report.skippedIDs == ["I6", "I7", "X3", "D11"], "\(report)")
        }
    }
}

extension ContractReport {
    fileprivate var skippedIDs: [String] {
        rows.compactMap { row in
            guard case .skipped = row.outcome else { return nil }
            return row.clause.id
        }
    }
}
