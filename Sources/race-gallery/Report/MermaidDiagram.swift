import InterleavingExplorer

/// Writes a diagram as a Mermaid `sequenceDiagram`.
struct MermaidDiagram: Sendable {
    let diagram: SequenceDiagram

    var text: String {
        let participants = diagram.lanes.map { "    participant \(id($0)) as \(escaped($0))" }
        return (["sequenceDiagram"] + participants + diagram.rows.map(line)).joined(separator: "\n")
    }

    private func line(_ row: SequenceDiagram.Row) -> String {
        let number = row.isFirst ? "\(row.step.isDeparture ? "*" : "")\(row.step.number) " : ""
        return switch row.content {
        case .note(let text): "    Note over \(id(row.lane)): \(number)\(escaped(text))"
        case .wakes(let lane, let text): "    \(id(row.lane))-->>\(id(lane)): \(number)\(escaped(text))"
        }
    }

    /// Names may be words of Mermaid's own, such as “end”.
    private func id(_ lane: String) -> String {
        "p\(diagram.lanes.firstIndex(of: lane) ?? 0)"
    }

    /// In Mermaid a semicolon ends a statement, a number sign begins an entity, two percent signs a directive.
    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "#": result += "#35;"
            case "%": result += "#37;"
            case ";": result += "#59;"
            case "\n": result += "<br/>"
            default: result.append(character)
            }
        }
    }
}
