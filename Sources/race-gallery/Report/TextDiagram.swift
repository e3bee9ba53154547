import InterleavingExplorer

/// Draws a diagram for a terminal of a hundred columns: a line for each lane, and dashed arrows for who wakes whom.
struct TextDiagram: Sendable {
    static let width = 98
    private static let margin = 6

    private let diagram: SequenceDiagram
    private let laneWidth: Int

    init(_ diagram: SequenceDiagram) {
        self.diagram = diagram
        let longest = diagram.rows.map { row in
            switch row.content {
            case .note(let text): text.count + 4
            case .wakes(_, let label): label.count + 7
            }
        }
        let most = (Self.width - Self.margin) / max(1, diagram.lanes.count)
        laneWidth = min(max(16, longest.max() ?? 0), most)
    }

    var text: String {
        let lines = [titles] + diagram.rows.flatMap(lines)
        return lines.map { String(String($0).reversed().drop { $0 == " " }.reversed()) }.joined(separator: "\n")
    }

    private func column(_ lane: String) -> Int {
        Self.margin + (diagram.lanes.firstIndex(of: lane) ?? 0) * laneWidth
    }

    private var titles: [Character] {
        var line = [Character](repeating: " ", count: Self.width)
        for lane in diagram.lanes {
            line.place(lane, at: column(lane))
        }
        return line
    }

    private var lifelines: [Character] {
        var line = [Character](repeating: " ", count: Self.width)
        for lane in diagram.lanes {
            line[column(lane)] = "│"
        }
        return line
    }

    private func lines(_ row: SequenceDiagram.Row) -> [[Character]] {
        var line = lifelines
        if row.isFirst {
            let number = "\(row.step.isDeparture ? "*" : "")\(row.step.number)"
            line.place(number, at: Self.margin - 2 - number.count)
        }
        switch row.content {
        case .wakes(let lane, let label):
            draw(label, from: column(row.lane), to: column(lane), in: &line)
            return [line]
        case .note(let text):
            let texts = text.wrapped(to: laneWidth - 3)
            line[column(row.lane)] = "●"
            line.place(texts.first ?? "", at: column(row.lane) + 2)
            return [line]
                + texts.dropFirst()
                .map { text in
                    var line = lifelines
                    line.place(text, at: column(row.lane) + 2)
                    return line
                }
        }
    }

    private func draw(_ label: String, from: Int, to: Int, in line: inout [Character]) {
        let (start, end) = (min(from, to) + 1, max(from, to) - 1)
        guard start <= end else { return }
        for position in start...end where line[position] == " " {
            line[position] = "╌"
        }
        line[from < to ? end : start] = from < to ? "▸" : "◂"
        // In the gap next to who wakes, where no lifeline is covered.
        let text = " \(label.prefix(laneWidth - 6)) "
        let gap = from < to ? from : from - laneWidth
        line.place(text, at: gap + 1 + (laneWidth - 1 - text.count) / 2)
    }
}

extension [Character] {
    fileprivate mutating func place(_ text: String, at position: Int) {
        for (offset, character) in text.enumerated() where indices.contains(position + offset) {
            self[position + offset] = character
        }
    }
}
