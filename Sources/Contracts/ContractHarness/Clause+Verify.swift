package import Foundation

/// What the suite found out before a clause is run.
package struct RunConditions: Sendable {
    /// How many seconds a subject may take for one step.
    package var timeLimit: TimeInterval
    /// Whether the subject was slow in this clause, and the time limit is a longer one.
    package var isPatient = false
    /// The ids of clauses that the subject is known to break.
    package var broken: Set<ClauseID> = []
    /// Told when the subject has owed something for so long that it probably never does it, and which clause will be
    /// accused then; `nil` if none will.
    package var onSilence: (@Sendable (ClauseID?) -> Void)?

    package init(timeLimit: TimeInterval, isPatient: Bool = false) {
        self.timeLimit = timeLimit
        self.isPatient = isPatient
    }
}

/// A step failed that another clause judges.
package struct NotJudged: Error {
    let judge: ClauseID
    /// `nil` if that clause is known to be broken.
    let violation: ContractViolation?

    package init(judge: ClauseID, violation: ContractViolation?) {
        self.judge = judge
        self.violation = violation
    }

    func reason(broken: Set<ClauseID>) -> String {
        guard let violation, !broken.contains(judge) else { return "mend \(judge) first" }
        let next = broken.isEmpty ? "verify \(judge) too" : "mend \(broken.sorted().list) first"
        return "a step that \(judge) judges failed; \(violation.summary); \(next)"
    }
}

/// The subject may rightly leave out what the scenario needs: the situation says nothing.
package struct Excused: Error {
    package init() {}
}

/// The subject did what it owed after its time limit, and is given a longer one.
package struct SlowSubject: Error {
    package init() {}
}

/// The scenario cannot go on, and this is how the clause went.
package struct Unjudged: Error {
    let outcome: ContractOutcome

    package init(outcome: ContractOutcome) { self.outcome = outcome }
}

/// What the contracts for services and for stores have in common: a kind of subject, and how clauses are run on it.
package protocol VerifiedSubject: Sendable {
    associatedtype Features: OptionSet & Sendable
    associatedtype Run: ScenarioRun where Run.Subject == Self

    var name: String { get }
    var features: Features { get }
    var promises: Set<ClauseID> { get }
}

/// How a clause went, and what was not looked at.
package struct Judgement {
    package var outcome: ContractOutcome
    /// The step that another clause is to judge, if it ended the run.
    var left: NotJudged?
    /// The situations that say nothing, of a clause that other situations judge.
    var leftOut: [LeftOutSituation] = []

    var isBroken: Bool { if case .broken = outcome { true } else { false } }
    /// Nothing stands in the way of the clause, and yet it was not judged: the subject was too slow.
    var isTooSlow: Bool { if case .notJudged = outcome { left == nil } else { false } }

    /// Of a clause that says nothing while the subject breaks the essential one.
    static func hopeless(_ essential: ClauseID) -> Judgement {
        let left = NotJudged(judge: essential, violation: nil)
        return Judgement(outcome: .notJudged(left.reason(broken: [essential])), left: left)
    }
}

extension Clause where Subject: VerifiedSubject {
    /// How the clause went; and if a step failed that another clause is to judge, what it was.
    package func judge(_ subject: Subject, _ conditions: RunConditions) async -> Judgement {
        if let reason = reasonToSkip(subject) { return Judgement(outcome: .skipped(reason)) }
        return await Lane("scenario").start { () async -> Judgement in
            do {
                return Judgement(outcome: .kept, leftOut: try await run(subject, conditions))
            } catch let violation as ContractViolation {
                return Judgement(outcome: outcome(of: violation, by: subject))
            } catch let left as NotJudged {
                return Judgement(outcome: .notJudged(left.reason(broken: conditions.broken)), left: left)
            } catch is SlowSubject {
                var patient = conditions
                (patient.timeLimit, patient.isPatient) = (4 * conditions.timeLimit, true)
                return await judge(subject, patient)
            } catch let unjudged as Unjudged {
                return Judgement(outcome: unjudged.outcome)
            } catch {
                // Scenarios throw nothing else.
                preconditionFailure("\(wording.id) threw \(error)")
            }
        }.value
    }

    private func outcome(of violation: ContractViolation, by subject: Subject) -> ContractOutcome {
        isDefect(for: subject) ? .broken(violation) : .advised(violation)
    }

    /// Whether a subject that breaks the clause has a defect; if not, the report gives advice.
    func isDefect(for subject: Subject) -> Bool { !wording.isConvention || subject.promises.contains(wording.id) }

    /// Verifies clauses in their order; if the essential one is broken, no other is run.
    package static func verify(
        _ subject: Subject,
        _ clauses: [Self],
        essential: ClauseID,
        mistakes: [Mistake],
        timeLimit: TimeInterval,
        onProgress: (@Sendable (ContractProgress) -> Void)?
    ) async -> ContractReport {
        // On a thread of its own: progress is told also when the subject blocks all those of the pool.
        await Lane("contract").start {
            let sequence = ClauseSequence(
                subject: subject,
                essential: essential,
                timeLimit: timeLimit,
                onProgress: onProgress
            )
            var broken: Set<ClauseID> = []
            var judgements = await sequence.judge(clauses, &broken)
            let kept = Set(zip(clauses, judgements).filter(\.1.outcome.isKept).map(\.0.wording.id))
            for (row, clause) in clauses.enumerated() {
                guard let left = judgements[row].left else { continue }
                if let violation = left.violation, broken.isEmpty, kept.contains(left.judge) {
                    // If the other clause found nothing, and nothing else is broken, then the clause that saw the
                    // failure is the broken one. Where a script saw it, the other clause is broken all the same: the
                    // script says so.
                    let id = violation.clause.id
                    let own = id == clause.wording.id ? row : clauses.firstIndex { $0.wording.id == id } ?? row
                    judgements[own] = Judgement(outcome: clauses[own].outcome(of: violation, by: subject))
                    sequence.tell(clauses[own], judgements[own].outcome)
                    guard own != row else { continue }
                    if case .broken = judgements[own].outcome { broken.insert(id) }
                    judgements[row] = await sequence.judge([clause], &broken)[0]
                } else if left.violation != nil, broken.contains(left.judge) {
                    // The fault was not known then, and ended the run: now it leaves out a situation.
                    judgements[row] = await sequence.judge([clause], &broken)[0]
                } else {
                    judgements[row].outcome = .notJudged(left.reason(broken: broken))
                }
            }
            return ContractReport(
                subject: subject.name,
                rows: zip(clauses, judgements).map { ($0.wording, $1.outcome) },
                leftOut: judgements.flatMap(\.leftOut),
                tooSlowIDs: Set(zip(clauses, judgements).filter { $1.isTooSlow }.map { $0.0.wording.id }),
                mistakes: mistakes
            )
        }.value
    }
}
