import ConsoleSupport
import Foundation
import LoopbackAuthorizationServer

/// All that the tour prints on standard output: what the server saw, the table, and a verdict.
struct Report: Sendable {
    let results: [SetUpResult]

    /// Whether no set-up of ours lost a session or left a caller unserved.
    var isGood: Bool {
        results.allSatisfy { $0.isGood || !$0.setUp.isOurs }
    }

    var text: String {
        // The first naive set-up and the last of ours, if both were run.
        let shown = [results.first { !$0.setUp.isOurs }, results.last { $0.setUp.isOurs }].compactMap(\.self)
        return (shown.map(lastRound) + [table.text, results.map(verdict).joined(separator: "\n")])
            .joined(separator: "\n\n")
    }

    /// The means of all rounds.
    var table: TextTable {
        let callers = results.first.map { $0.callers.count / $0.rounds } ?? 0
        let limited = results.contains { $0.limited != nil } ? ["429"] : []
        return TextTable(
            header: ["a round, \(callers) callers", "loads"] + limited + ["reuses", "sessions lost", "served", "time"],
            rows: results.map { result in
                func mean(_ count: Int) -> String {
                    let mean = Double(count) / Double(result.rounds)
                    return String(format: mean == mean.rounded() ? "%.0f" : "%.1f", mean)
                }
                return [result.setUp.rawValue, mean(result.loads)] + limited.map { _ in mean(result.limited ?? 0) } + [
                    mean(result.reuses), mean(result.sessionsLost), mean(result.callers.served),
                    String(format: "%.0f ms", 1_000 * result.seconds / Double(result.rounds)),
                ]
            }
        )
    }

    /// Equal events are one line, where the first of them happened.
    private func lastRound(_ result: SetUpResult) -> String {
        var lines: [(text: String, count: Int)] = []
        for text in result.lastRound.compactMap(\.line) {
            if let index = lines.firstIndex(where: { $0.text == text }) {
                lines[index].count += 1
            } else {
                lines.append((text, 1))
            }
        }
        let title = "\(result.setUp.rawValue), round \(result.rounds), as the server saw it:"
        return ([title] + lines.map { String(format: "%6d × ", $0.count) + $0.text }).joined(separator: "\n")
    }

    /// A sentence for each set-up.
    private func verdict(_ result: SetUpResult) -> String {
        let name = result.setUp.rawValue
        guard !result.isGood else { return "\(name) kept the session and served every caller." }
        let callers = result.callers
        let silence = callers.unanswered == 0 ? "" : ", \(callers.unanswered) of them without an answer"
        return "\(name)\(result.setUp.isOurs ? " FAILED: it" : "") lost \(result.sessionsLost) sessions in "
            + "\(result.rounds) rounds, and left \(callers.count - callers.served) of \(callers.count) callers "
            + "unserved\(silence)\(reasons(result))."
    }

    /// A naive set-up without a limit always fails for the reason that the tour is about.
    private func reasons(_ result: SetUpResult) -> String {
        guard result.setUp.isOurs || result.limited != nil, !result.callers.reasons.isEmpty else { return "" }
        let reasons = result.callers.reasons.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return ": " + reasons.map { "\($0.value) × \($0.key)" }.joined(separator: "; ")
    }
}

extension AuthorizationServerEvent {
    fileprivate var line: String? {
        func text(_ name: TokenName?) -> String { name?.description ?? "an unknown token" }
        return switch self {
        case .tokenRequested(let name): "POST /token with \(text(name))"
        case .tokenIssued(let access, let refresh): "answer 200: \(access) and \(refresh)"
        case .clientTokenIssued(let access): "answer 200: \(access)"
        case .tokenRefused(let code): "answer 400: \(code)"
        case .reuseDetected(let name): "\(name) is used again"
        case .familyRevoked: "the session is revoked"
        case .userDecided(let user): user.map { "\($0) agrees" } ?? "the user refuses"
        case .resourceServed(let name): "GET /resource with \(name): 200"
        case .resourceRefused(let name): "GET /resource with \(text(name)): 401"
        case .requestRejected(let status): "a request is rejected: \(status)"
        case .resourceRequested: nil
        }
    }
}
