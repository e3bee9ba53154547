public import ContractHarness

extension ContractReport {
    /// How many scripts were played; `nil` if none were.
    public var scripts: ScriptCount? { search as? ScriptCount }
}

extension Script: Replay {
    package var length: Int { steps.count }
}

extension ContractViolation {
    /// The script that showed it, if a script did; a test that plays it is one line.
    public var script: Script? { replay as? Script }
}

extension ContractReport {
    /// Takes what scripts found into the rows: a clause that a script breaks is broken, however its own scenario went.
    mutating func add(_ result: ScriptSearch.Result) {
        search = result.count
        for index in rows.indices {
            let (clause, outcome) = rows[index]
            if case .broken = outcome { continue }
            if let violation = result.findings.first(where: { $0.clause.id == clause.id }) {
                rows[index].outcome = .broken(violation)
                // What another situation would show is not missing any more.
                leftOut.removeAll { $0.clause.id == clause.id }
            } else if let (_, cause) = result.aftershocks.first(where: { $0.clause == clause.id }) {
                let steps = cause.script.map { " (\($0))" } ?? ""
                rows[index].outcome = .notJudged(
                    "mend \(cause.clause.id)\(steps) first: longer scripts with such steps show this too"
                )
            }
        }
    }
}
