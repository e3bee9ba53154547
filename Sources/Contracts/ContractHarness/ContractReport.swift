/// How all clauses went on one subject; its description is a table, and then each broken clause in full.
public struct ContractReport: Sendable, CustomStringConvertible {
    /// The subject's name.
    public let subject: String

    /// Each clause with its outcome, in the contract's order.
    public package(set) var rows: [(clause: ClauseWording, outcome: ContractOutcome)]

    /// The situations that were left out of clauses that other situations have judged: ``notJudgedIDs`` has the clauses
    /// of which no situation is left.
    public package(set) var leftOut: [LeftOutSituation] = []

    /// The ids of the clauses that could not be judged although nothing stands in their way: the subject was too slow.
    let tooSlowIDs: Set<ClauseID>

    /// What was looked at beside the clauses' scenarios, in one line.
    package var search: (any Sendable & CustomStringConvertible)?

    /// What may stand behind several broken clauses of this contract.
    let mistakes: [Mistake]

    /// The clauses that the subject broke, with what happened.
    public var violations: [ContractViolation] {
        rows.compactMap { if case .broken(let violation) = $0.outcome { violation } else { nil } }
    }

    /// The conventions that the subject does not follow and did not promise: no defects.
    public var advice: [ContractViolation] {
        rows.compactMap { if case .advised(let violation) = $0.outcome { violation } else { nil } }
    }

    /// The clauses that could not be judged, since the subject breaks what they take for granted.
    public var notJudged: [ClauseWording] {
        rows.compactMap { if case .notJudged = $0.outcome { $0.clause } else { nil } }
    }

    /// The ids of the clauses that the subject broke, for a test that pins them.
    public var brokenIDs: [ClauseID] { violations.map(\.clause.id) }

    /// The ids of the clauses that could not be judged, for a test that pins them beside ``brokenIDs``: what such a
    /// clause would find shows when the clause that stands in its way is mended.
    public var notJudgedIDs: [ClauseID] { notJudged.map(\.id) }

    /// Whether every clause that was asked was judged, and none was broken; skipped ones do not count, nor does advice.
    public var isKept: Bool { violations.isEmpty && notJudged.isEmpty }

    /// A row for each clause, a line for each reason to skip clauses or to leave out situations, a line that counts
    /// them, the common causes, and what was broken in full.
    public var description: String {
        let asked = rows.filter { !$0.outcome.isSkipped }
        let skipped = rows.filter(\.outcome.isSkipped)
        let table = asked.map { clause, outcome in
            clause.id.rawValue.padding(to: 4) + outcome.verdict.padding(to: 12) + (outcome.reason ?? clause.must)
        }
        let reasons = Dictionary(grouping: skipped) { $0.outcome.reason ?? "" }.sorted { $0.key < $1.key }
        let skips = reasons.map { "skipped, \($0.key): \($0.value.map(\.clause.id).list)" }
        let count = """
            \(rows.count { $0.outcome.isKept }) kept, \(violations.count) broken, \(notJudged.count) not judged, \
            \(advice.count) advice, \(skipped.count) skipped
            """
        // The shortest script says most directly what is wrong; a clause's own scenario needs none.
        let worst = violations.sorted { ($1.clause.severity, $0.steps) < ($0.clause.severity, $1.steps) }
        let kept = Dictionary(grouping: rows.filter(\.outcome.isKept).map(\.clause)) { $0.unseen ?? "" }
        let unseen = kept.filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }
            .map { "kept as far as the contract sees, \($0.value.map(\.id).list): \($0.key)" }
        var lines = ["The contract on \(subject)", ""] + table + [""] + skips + leftOut.lines + unseen + [count]
        if let search { lines.append("\(search)") }
        let causes = commonCauses
        if !causes.isEmpty { lines += ["", "Common causes, which are mended first:"] + causes.map { "- \($0)" } }
        lines += worst.map { "\n\($0)" }
        if !advice.isEmpty { lines += ["\nAdvice, and no defects: conventions that the subject does not promise."] }
        lines += advice.map { "\n\($0)" }
        return lines.joined(separator: "\n")
    }
}

/// How one clause went on one subject.
public enum ContractOutcome: Sendable {
    /// The scenario was run and showed nothing wrong.
    case kept
    /// The scenario was not run, and this is why: the subject lacks a feature, most often.
    case skipped(String)
    /// The subject broke the clause.
    case broken(ContractViolation)
    /// The subject does not follow a convention that it did not promise.
    case advised(ContractViolation)
    /// The subject breaks what the clause takes for granted.
    case notJudged(String)

    package var isKept: Bool { if case .kept = self { true } else { false } }
    var isSkipped: Bool { if case .skipped = self { true } else { false } }

    var verdict: String {
        switch self {
        case .kept: "kept"
        case .skipped: "skipped"
        case .broken: "BROKEN"
        case .advised: "advice"
        case .notJudged: "not judged"
        }
    }

    /// Why the clause was not kept.
    var reason: String? {
        switch self {
        case .kept: nil
        case .skipped(let reason), .notJudged(let reason): reason
        case .broken(let violation), .advised(let violation): violation.summary
        }
    }
}

/// A subject broke a clause: what was expected, what was observed, and all that happened before.
public struct ContractViolation: Error, CustomStringConvertible {
    /// The clause.
    public let clause: ClauseWording

    /// What should have happened.
    public let expected: String

    /// What happened instead.
    public let observed: String

    /// The situation in which it showed, if the clause is tried in several.
    public let situation: String?

    /// What shows it again, in a form that can be pasted into code.
    package let replay: (any Replay)?

    /// How many steps show it, beside those of the clause itself.
    fileprivate var steps: Int { replay?.length ?? 0 }

    /// What happened in the scenario, in order; tokens stand there by name, and of a long trace the middle is left out.
    public let trace: [String]

    package init(
        clause: ClauseWording,
        expected: String,
        observed: String,
        situation: String? = nil,
        replay: (any Replay)? = nil,
        trace: [String]
    ) {
        self.clause = clause
        self.expected = expected
        self.observed = observed
        self.situation = situation
        self.replay = replay
        self.trace = trace
    }

    package var summary: String { "\(expected); observed: \(observed)" }

    /// All of it, over several lines.
    public var description: String {
        let steps = trace.enumerated().map { "    \($0.offset + 1). \($0.element)" }
        let optional = [
            situation.map { "  situation: \($0)" },
            replay.map { "  script:    \($0)" },
            clause.resembles.map { "  resembles: \($0)" },
        ]
        let lines =
            [
                "\(clause.id), \(clause.severity): the subject \(clause.isConvention ? "should" : "must") \(clause.must)",
                "  expected:  \(expected)",
                "  observed:  \(observed)",
                "  because:   \(clause.intent)",
                "  mended by: \(clause.remedy)",
            ] + optional.compactMap(\.self) + ["  judged at: \(clause.file):\(clause.line)", "  trace:"] + steps
        return lines.joined(separator: "\n")
    }
}

/// What shows a violation again.
package protocol Replay: Sendable, CustomStringConvertible {
    /// In steps.
    var length: Int { get }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
