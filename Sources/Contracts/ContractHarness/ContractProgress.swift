import Foundation

/// How far the verification of a subject has come: a clause is about to be run or was run, or scripts are about to be
/// played.
public struct ContractProgress: Sendable, CustomStringConvertible {
    /// The subject's name.
    public let subject: String

    /// The clause; `nil` when scripts are about to be played.
    public let clause: ClauseWording?

    /// How the clause went; `nil` while it is running.
    public let outcome: ContractOutcome?

    /// The file that names the scripts that are being played, should the subject end the process.
    package let scriptsInPlay: String?

    package init(subject: String, clause: ClauseWording?, outcome: ContractOutcome?, scriptsInPlay: String? = nil) {
        self.subject = subject
        self.clause = clause
        self.outcome = outcome
        self.scriptsInPlay = scriptsInPlay
    }

    /// Writes a line to standard error before each clause that is run, and another one if the clause is not kept.
    ///
    /// If the subject ends the process, the last line names the clause, and the lines before are the report. Clauses
    /// that were waiting for an answer at that moment are those without a second line.
    public static let standardError: @Sendable (ContractProgress) -> Void = { progress in
        switch progress.outcome {
        case .kept, .skipped: return
        default: break
        }
        // A standard error that can't be written is no reason to end the suite.
        try? FileHandle.standardError.write(contentsOf: Data("\(progress)\n".utf8))
    }

    /// The subject, the clause and its outcome, in one line.
    public var description: String {
        guard let clause else {
            let file = scriptsInPlay.map { "; if the process ends here, those that were being played are in \($0)" }
            return "\(subject): scripts are being played\(file ?? "")"
        }
        guard let outcome else { return "\(subject): \(clause.id) is running: \(clause.must)" }
        let reason = outcome.reason.map { ": \($0)" }
        return "\(subject): \(clause.id) \(outcome.verdict)\(reason ?? "")"
    }
}
