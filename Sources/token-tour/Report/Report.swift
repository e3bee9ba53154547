/// All that the tour prints on standard output.
struct Report: Sendable {
    let results: [SetUpResult]
    let isMermaid: Bool
    var server = ServerNote.builtIn

    var text: String {
        let table = TextTable(results, on: server)
        let parts = [server.text] + drawn.map(drawing) + [isMermaid ? table.markdown : table.text, verdict]
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// A round that went wrong beside one that went right, if both were run.
    private var drawn: [SetUpResult] {
        [results.first { !$0.name.isOurs }, results.last { $0.name.isOurs }].compactMap(\.self)
    }

    private var verdict: String {
        let text = Verdict(results: results).text
        return isMermaid ? text.split(separator: "\n").map { "- \($0)" }.joined(separator: "\n") : text
    }

    private func drawing(_ result: SetUpResult) -> String {
        let title = "\(result.name.rawValue), round \(result.rounds), as it happened"
        let diagram = SequenceDiagram(result.lastRound)
        guard isMermaid else { return "\(title)\n\n\(TextDiagram(diagram).text)" }
        return "## \(title)\n\n```mermaid\n\(MermaidDiagram(diagram: diagram).text)\n```"
    }
}
