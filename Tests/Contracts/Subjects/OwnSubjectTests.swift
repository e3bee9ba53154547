import AccessTokenContract
import Foundation
import TestSupport
import Testing

/// What cannot be asked of a subject of this package, and nothing else, is skipped.
@Suite("Of each own subject it is skipped", .takesTurnsToWait)
struct OwnSubjectTests {
    @Test(arguments: verdictRuns == nil ? OwnSubjects.some : OwnSubjects.all)
    func `only that its callers are tasks, or handlers`(_ subject: ContractSubject) async {
        let isOfHandlers = subject.features.contains(.deliveryQueue)
        let isBehindOthers = isOfHandlers && !subject.features.contains(.callbackLoader)
        let isObserved = subject.features.contains(.events)
        let expected: [ClauseID] =
            if !isOfHandlers {
                ["I6", "I7", "D3", "D4", "D7", "D11"]
            } else if isBehindOthers {
                ["S7", "I6", "I7", "X3", "D2", "D7", "D11", "R1", "R2"]
            } else {
                ["S7", "I6", "I7", "X3"] + (isObserved ? [] : ["D11"])
            }
        for _ in 1...runs {
            let report = await subject.report()
            #expect(report.skippedIDs == expected, "\(report)")
            #expect(report.isKept && report.advice.isEmpty, "\(report)")
        }
    }
}

/// How many scripts are played on each own subject, and their seed, set by `.ci/deep contract_scripts`.
private let scripts = ProcessInfo.processInfo.environment["CONTRACT_SCRIPTS"].flatMap { Int($0) }
private let seed = ProcessInfo.processInfo.environment["CONTRACT_SEED"].flatMap { UInt64($0) }

@Suite("No script accuses", .timeLimit(.minutes(600)))
struct OwnScriptTests {
    @Test(.enabled(if: scripts != nil, "for .ci/deep contract_scripts"), arguments: OwnSubjects.all)
    func `an own subject`(_ subject: ContractSubject) async throws {
        let scripts = try #require(scripts)
        let report = await ServiceContract.verify(
            subject,
            clauses: ServiceContract.clauses,
            scripts: scripts,
            seed: seed ?? 44,
            onProgress: nil
        )
        #expect(report.isKept && report.advice.isEmpty, "\(report)")
        #expect((report.scripts?.scripts ?? 0) >= scripts, "\(report)")
    }
}
