/// What the table comes to, in a sentence or two.
struct Verdict: Sendable {
    let results: [SetUpResult]

    /// Whether no set-up of ours lost a session or left a caller unserved.
    var isGood: Bool {
        results.allSatisfy { $0.isGood || !$0.name.isOurs }
    }

    var text: String {
        results.map { result in
            let name = result.name.rawValue
            let rounds = "\(result.rounds) \(result.rounds == 1 ? "round" : "rounds")"
            let loads = "\(result.loads) \(result.loads == 1 ? "load" : "loads")"
            if result.isGood {
                return "\(name) kept the session and served every caller: \(loads) in \(rounds)."
            }
            let failure = result.name.isOurs ? "\(name) FAILED: it" : name
            let silence = result.unanswered == 0 ? "" : ", \(result.unanswered) of them without an answer"
            return "\(failure) lost \(result.sessionsLost) of \(result.signIns) sessions in \(rounds), and "
                + "left \(result.callers - result.served) of \(result.callers) callers unserved\(silence)\(reasons(result))."
        }
        .joined(separator: "\n")
    }

    /// Of a naive set-up everybody knows why.
    private func reasons(_ result: SetUpResult) -> String {
        guard result.name.isOurs, !result.reasons.isEmpty else { return "" }
        let reasons = result.reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ": " + reasons.map { "\($0.value) × \($0.key)" }.joined(separator: "; ")
    }
}
