/// How all clauses went on one subject; its description is a table.
public struct ContractReport: Sendable, CustomStringConvertible {
    /// The subject's name.
    public let subject: String

    /// Each clause with its outcome, in the contract's order.
    public let rows: [(clause: ContractClause, outcome: ContractOutcome)]

    /// The clauses that the subject broke.
    public var violations: [ContractViolation] {
        rows.compactMap { row in
            guard case .broken(let violation) = row.outcome else { return nil }
            return violation
        }
    }

    /// Whether no clause was broken; skipped ones do not count, and the table shows them.
    public var isKept: Bool { violations.isEmpty }

    /// A row for each clause, a line that counts them, and the violations in full.
    public var description: String {
        let table = rows.map { row in
            let id = row.clause.id.padding(to: 4)
            switch row.outcome {
            case .kept: return "\(id)kept     \(row.clause.must)"
            case .skipped(let missing): return "\(id)skipped  needs \(missing)"
            case .broken(let violation): return "\(id)BROKEN   \(violation.expected); observed: \(violation.observed)"
            }
        }
        let skipped = rows.count { row in
            if case .skipped = row.outcome { true } else { false }
        }
        let kept = rows.count - skipped - violations.count
        let count = "\(kept) kept, \(violations.count) broken, \(skipped) skipped"
        let details = violations.map { "\n\($0)" }
        return (["The contract on \(subject)", ""] + table + ["", count] + details).joined(separator: "\n")
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
