import AccessTokenContract
import Foundation

/// How often all verdicts are looked at that must be the same every time, set by `.ci/deep verdicts`; `nil` for `swift
/// test`, which looks at some of the subjects only.
let verdictRuns = ProcessInfo.processInfo.environment["CONTRACT_RUNS"].flatMap { Int($0) }
let runs = verdictRuns ?? 1

extension ContractSubject {
    /// The report on this subject, about all clauses or those with these ids, and no line of it on standard error.
    func report(
        on ids: ClauseID...,
        scripts: Int = 0,
        timeLimit: TimeInterval = ServiceContract.defaultTimeLimit
    ) async -> ContractReport {
        let clauses = ServiceContract.clauses.filter { ids.isEmpty || ids.contains($0.id) }
        return await ServiceContract.verify(
            self,
            clauses: clauses,
            scripts: scripts,
            timeLimit: timeLimit,
            onProgress: nil
        )
    }
}

extension ContractReport {
    var skippedIDs: [ClauseID] {
        rows.compactMap { if case .skipped = $0.outcome { $0.clause.id } else { nil } }
    }
}
