import Foundation

/// How far the verification of a subject has come: a clause is about to be run, or was run.
public struct ContractProgress: Sendable, CustomStringConvertible {
    /// The subject's name.
    public let subject: String

    /// The clause.
    public let clause: ContractClause

    /// How the clause went; `nil` while it is running.
    public let outcome: ContractOutcome?

    package init(subject: String, clause: ContractClause, outcome: ContractOutcome?) {
        self.subject = subject
        self.clause = clause
        self.outcome = outcome
    }

    /// A handler for `onProgress` that writes a line to standard error before and after each clause.
    public static let standardError: @Sendable (ContractProgress) -> Void = { progress in
        // A standard error that can't be written is no reason to end the suite.
        try? FileHandle.standardError.write(contentsOf: Data("\(progress)\n".utf8))
    }

    /// The subject, the clause and its outcome, in one line.
    public var description: String {
        let result =
            switch outcome {
            case nil: "is running: \(clause.must)"
            case .kept: "kept"
            case .skipped(let reason): "skipped, \(reason)"
            case .broken(let violation): "BROKEN: \(violation.summary)"
            case .advised(let violation): "advice: \(violation.summary)"
            case .notJudged(let reason): "not judged: \(reason)"
            }
        return "\(subject): \(clause.id) \(result)"
    }
}
