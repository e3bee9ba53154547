extension ContractReport {
    /// Takes what scripts found into the rows: a clause that a script breaks is broken, however its own scenario went.
    mutating func add(_ result: ScriptSearch.Result) {
        scripts = result.count
        for index in rows.indices {
            let (clause, outcome) = rows[index]
            if case .broken = outcome { continue }
            if let violation = result.findings.first(where: { $0.clause.id == clause.id }) {
                rows[index].outcome = .broken(violation)
            }
        }
    }
}
