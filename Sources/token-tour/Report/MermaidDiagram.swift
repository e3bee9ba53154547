/// Writes a diagram as a Mermaid `sequenceDiagram`.
struct MermaidDiagram: Sendable {
    let diagram: SequenceDiagram

    var text: String {
        let participants = diagram.lanes.map { lane in "    participant \(lane) as \(lane.title)" }
        return (["sequenceDiagram"] + participants + diagram.rows.map(line)).joined(separator: "\n")
    }

    private func line(_ row: SequenceDiagram.Row) -> String {
        let text = escaped("\(row.label) (\(row.time))")
        return switch row.step {
        case .request(let from, let to, _): "    \(from)->>\(to): \(text)"
        case .answer(let from, let to, _): "    \(from)-->>\(to): \(text)"
        case .note(let lane, _): "    Note over \(lane): \(text)"
        }
    }

    /// In Mermaid a semicolon ends a statement, a number sign begins an entity, and two percent signs begin
    /// a directive.
    private func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "#": result += "#35;"
            case "%": result += "#37;"
            case ";": result += "#59;"
            default: result.append(character)
            }
        }
        return result
    }
}
