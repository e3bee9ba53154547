package import Foundation

/// What the suite found out before a clause is run.
package struct RunConditions: Sendable {
    /// How many seconds a subject may take for one step.
    var timeLimit: TimeInterval
    /// Whether the subject was slow in this clause, and the time limit is a longer one.
    var isPatient = false
    /// The ids of clauses that the subject is known to break.
    var broken: Set<String> = []
}

/// A step failed that another clause judges.
package struct NotJudged: Error {
    let judge: String
    /// `nil` if that clause is known to be broken.
    let violation: ContractViolation?

    func reason(broken: Set<String>) -> String {
        guard let violation, !broken.contains(judge) else { return "mend \(judge) first" }
        let next = broken.isEmpty ? "verify \(judge) too" : "mend \(broken.sorted().joined(separator: ", ")) first"
        return "a step that \(judge) judges failed; \(violation.summary); \(next)"
    }
}

/// The subject did what it owed after its time limit, and is given a longer one.
struct SlowSubject: Error {}

/// The scenario cannot go on, and this is how the clause went.
struct Unjudged: Error {
    let outcome: ContractOutcome
}

/// A round that another clause, which is known to be broken, leaves nothing to see in.
struct RoundSkipped: Error {}

/// What the contracts for services and for stores have in common: a kind of subject, and how clauses are run on it.
package protocol VerifiedSubject: Sendable {
    associatedtype Features: OptionSet & Sendable
    associatedtype Run: ScenarioRun where Run.Subject == Self

    var name: String { get }
    var features: Features { get }
    var promises: Set<String> { get }
    var errors: @Sendable (any Error) -> any Error { get }
}

extension Clause where Subject: VerifiedSubject {
    /// How the clause went; and if a step failed that another clause is to judge, what it was.
    func judge(_ subject: Subject, _ conditions: RunConditions) async -> (outcome: ContractOutcome, left: NotJudged?) {
        if let reason = reasonToSkip(subject) { return (.skipped(reason), nil) }
        return await Lane("scenario").start { () async -> (ContractOutcome, NotJudged?) in
            do {
                try await run(subject, conditions)
                return (.kept, nil)
            } catch let violation as ContractViolation {
                return (outcome(of: violation, by: subject), nil)
            } catch let left as NotJudged {
                return (.notJudged(left.reason(broken: conditions.broken)), left)
            } catch is SlowSubject {
                var patient = conditions
                (patient.timeLimit, patient.isPatient) = (4 * conditions.timeLimit, true)
                return await judge(subject, patient)
            } catch let unjudged as Unjudged {
                return (unjudged.outcome, nil)
            } catch {
                // Scenarios throw nothing else.
                preconditionFailure("\(wording.id) threw \(error)")
            }
        }.value
    }

    private func outcome(of violation: ContractViolation, by subject: Subject) -> ContractOutcome {
        !wording.isConvention || subject.promises.contains(wording.id) ? .broken(violation) : .advised(violation)
    }

    /// Verifies clauses one after the other; if the essential one is broken, no other is run.
    package static func verify(
        _ subject: Subject,
        _ clauses: [Self],
        essential: String,
        timeLimit: TimeInterval,
        onProgress: (@Sendable (ContractProgress) -> Void)?
    ) async -> ContractReport {
        // On a thread of its own: progress is told also when the subject blocks all those of the pool.
        await Lane("contract").start {
            var rows: [(clause: ClauseWording, outcome: ContractOutcome)] = []
            var leftToOthers: [(row: Int, left: NotJudged)] = []
            var conditions = RunConditions(timeLimit: timeLimit)
            func tell(_ clause: Self, _ outcome: ContractOutcome?) {
                onProgress?(
                    ContractProgress(
                        subject: subject.name,
                        clause: clause.wording,
                        outcome: outcome,
                        scriptsInPlay: nil
                    )
                )
            }
            for clause in clauses {
                if clause.reasonToSkip(subject) == nil { tell(clause, nil) }
                let (outcome, left) =
                    conditions.broken.contains(essential)
                    ? (.notJudged("mend \(essential) first"), nil) : await clause.judge(subject, conditions)
                if case .broken = outcome { conditions.broken.insert(clause.wording.id) }
                if let left { leftToOthers.append((rows.count, left)) }
                rows.append((clause.wording, outcome))
                tell(clause, outcome)
            }
            let kept = Set(rows.filter(\.outcome.isKept).map(\.clause.id))
            for (row, left) in leftToOthers {
                // If the other clause found nothing, and nothing else is broken, the clause that saw the failure is.
                if let violation = left.violation, conditions.broken.isEmpty, kept.contains(left.judge) {
                    rows[row].outcome = clauses[row].outcome(of: violation, by: subject)
                    tell(clauses[row], rows[row].outcome)
                } else {
                    rows[row].outcome = .notJudged(left.reason(broken: conditions.broken))
                }
            }
            return ContractReport(subject: subject.name, rows: rows)
        }.value
    }
}
