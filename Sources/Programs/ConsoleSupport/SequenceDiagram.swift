/// Rows of notes and arrows between lanes, to be drawn as text or written as Mermaid.
package struct SequenceDiagram: Hashable, Sendable {
    /// What a row shows.
    ///
    /// A lane is named by its title.
    package enum Content: Hashable, Sendable {
        case note(lane: String, String)
        case arrow(from: String, to: String, isDashed: Bool = false, String)

        /// The same as one line: the error of a system can have several.
        var text: String {
            switch self {
            case .note(_, let text), .arrow(_, _, _, let text):
                text.split(whereSeparator: \.isNewline).joined(separator: " ")
            }
        }

        package var lanes: [String] {
            switch self {
            case .note(let lane, _): [lane]
            case .arrow(let from, let to, _, _): [from, to]
            }
        }
    }

    package struct Row: Hashable, Sendable {
        /// The time or the number in the margin; empty if the row belongs to the row above.
        package let mark: String
        package let content: Content

        package init(mark: String, _ content: Content) {
            self.mark = mark
            self.content = content
        }
    }

    /// From left to right.
    package let lanes: [String]
    package let rows: [Row]

    package init(lanes: [String], rows: [Row]) {
        self.lanes = lanes
        self.rows = rows
    }

    /// The diagram as a Mermaid `sequenceDiagram`.
    package var mermaid: String {
        // Lanes have identifiers of their own, since a title may be a word of Mermaid's, such as “end”.
        func id(_ lane: String) -> String {
            "p\(lanes.firstIndex(of: lane) ?? 0)"
        }
        let participants = lanes.map { "participant \(id($0)) as \($0.escapedForMermaid)" }
        let statements = rows.map { row in
            let text = (row.mark.isEmpty ? "" : "\(row.mark) ") + row.content.text
            let subject =
                switch row.content {
                case .note(let lane, _): "Note over \(id(lane))"
                case .arrow(let from, let to, let isDashed, _): "\(id(from))\(isDashed ? "-->>" : "->>")\(id(to))"
                }
            return "\(subject): \(text.escapedForMermaid)"
        }
        return (["sequenceDiagram"] + (participants + statements).map { "    \($0)" }).joined(separator: "\n")
    }
}

extension String {
    /// In Mermaid a semicolon ends a statement, a number sign begins an entity, and two percent signs begin a directive.
    fileprivate var escapedForMermaid: String {
        reduce(into: "") { result, character in
            switch character {
            case "#": result += "#35;"
            case "%": result += "#37;"
            case ";": result += "#59;"
            default: result.append(character)
            }
        }
    }
}
