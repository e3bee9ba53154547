import AccessTokenContract
import CredentialStoreContract
import Foundation

/// How often all verdicts are looked at that must be the same every time, set by `.ci/deep verdicts`; `nil` for `swift
/// test`, which looks at some of the subjects only.
let verdictRuns = ProcessInfo.processInfo.environment["CONTRACT_RUNS"].flatMap { Int($0) }
let runs = verdictRuns ?? 1

extension [ContractClause] {
    /// Those with these ids and every twenty-fourth of the others, which differ from name to name.
    ///
    /// L1 and O6 are always among them: other clauses leave to them what fails before they can judge. `.ci/deep
    /// verdicts` tries all clauses.
    func some(including ids: [ClauseID], toTry name: String) -> [ContractClause] {
        share(24, of: name) { (["L1", "O6"] + ids).contains($0.id) }
    }
}

extension [StoreClause] {
    /// The same for stores, of which each needs K1: every fourth of the others.
    func some(including ids: [ClauseID], toTry name: String) -> [StoreClause] {
        share(4, of: name) { (["K1"] + ids).contains($0.id) }
    }
}

extension Array {
    fileprivate func share(_ parts: Int, of name: String, and isNeeded: (Element) -> Bool) -> [Element] {
        let part = name.utf8.reduce(0) { $0 + Int($1) } % parts
        return enumerated().filter { verdictRuns != nil || $0 % parts == part || isNeeded($1) }.map(\.element)
    }
}

extension ContractSubject {
    /// The report on this subject, about all clauses or those with these ids, and no line of it on standard error.
    func report(
        on ids: ClauseID...,
        scripts: Int = 0,
        timeLimit: TimeInterval = 1
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
