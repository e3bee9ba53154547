import ConsoleSupport

/// All that the tour prints on standard output: diagrams, the table, and a verdict.
struct Report: Sendable {
    let results: [SetUpResult]
    let isMermaid: Bool

    /// Whether no set-up of ours lost a session or left a caller unserved.
    var isGood: Bool {
        results.allSatisfy { $0.isGood || !$0.setUp.isOurs }
    }

    var text: String {
        let verdict = isMermaid ? verdict.map { "- \($0)" } : verdict
        let parts = drawn.map(drawing) + [isMermaid ? table.markdown : table.text, verdict.joined(separator: "\n")]
        return parts.joined(separator: "\n\n")
    }

    /// The first naive set-up and the last of ours, if both were run.
    private var drawn: [SetUpResult] {
        // What other processes do is not recorded.
        let recorded = results.filter { $0.setUp is SetUp }
        return [recorded.first { !$0.setUp.isOurs }, recorded.last { $0.setUp.isOurs }].compactMap(\.self)
    }

    private func drawing(_ result: SetUpResult) -> String {
        let title = "\(result.setUp.rawValue), round \(result.rounds), as it happened"
        let diagram = SequenceDiagram(result.lastRound)
        guard isMermaid else { return "\(title)\n\n\(diagram.text())" }
        return "## \(title)\n\n```mermaid\n\(diagram.mermaid)\n```"
    }

    var table: TextTable {
        TextTable(
            header: ["set-up", "loads sent", "reuse detected", "sessions lost", "served", "wall time"],
            rows: results.map { result in
                [
                    result.setUp.rawValue,
                    "\(result.loads)",
                    "\(result.reuses)",
                    "\(result.sessionsLost) of \(result.signIns)",
                    "\(result.callers.served) of \(result.callers.count)",
                    "\(result.wallTime.milliseconds) ms",
                ]
            }
        )
    }

    /// A sentence for each set-up.
    private var verdict: [String] {
        results.map { result in
            let name = result.setUp.rawValue
            let rounds = "\(result.rounds) \(result.rounds == 1 ? "round" : "rounds")"
            let loads = "\(result.loads) \(result.loads == 1 ? "load" : "loads")"
            if result.isGood {
                return "\(name) kept the session and served every caller: \(loads) in \(rounds)."
            }
            let callers = result.callers
            let failure = result.setUp.isOurs ? "\(name) FAILED: it" : name
            let silence = callers.unanswered == 0 ? "" : ", \(callers.unanswered) of them without an answer"
            return "\(failure) lost \(result.sessionsLost) of \(result.signIns) sessions in \(rounds), and "
                + "left \(callers.count - callers.served) of \(callers.count) callers unserved\(silence)"
                + "\(reasons(result))."
        }
    }

    /// A naive set-up always fails for the reason that the tour is about.
    private func reasons(_ result: SetUpResult) -> String {
        guard result.setUp.isOurs, !result.callers.reasons.isEmpty else { return "" }
        let reasons = result.callers.reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ": " + reasons.map { "\($0.value) × \($0.key)" }.joined(separator: "; ")
    }
}

extension Duration {
    /// Whole milliseconds, rounded.
    var milliseconds: Int {
        Int((self / .milliseconds(1)).rounded())
    }
}
