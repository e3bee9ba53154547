/// Draws a diagram for a terminal: a line for each lane, requests drawn through, answers dashed.
struct TextDiagram: Sendable {
    private let diagram: SequenceDiagram
    private let layout: DiagramLayout

    init(_ diagram: SequenceDiagram) {
        self.diagram = diagram
        layout = DiagramLayout(diagram)
    }

    var text: String {
        let lines = [titles, lifelines] + diagram.rows.map(line)
        return lines.map { String($0).trimmingTrailingSpaces }.joined(separator: "\n")
    }

    private func column(_ lane: Lane) -> Int {
        layout.columns[lane] ?? 0
    }

    private var titles: [Character] {
        var line = [Character](repeating: " ", count: layout.width)
        for lane in diagram.lanes {
            line.place(lane.title, at: column(lane) - lane.title.count / 2)
        }
        return line
    }

    private var lifelines: [Character] {
        var line = [Character](repeating: " ", count: layout.width)
        for lane in diagram.lanes {
            line[column(lane)] = "│"
        }
        return line
    }

    private func line(_ row: SequenceDiagram.Row) -> [Character] {
        var line = lifelines
        line.place(row.time, at: layout.timeWidth - row.time.count)
        let label = row.label.shortened(to: DiagramLayout.longestLabel)
        switch row.step {
        case .request(let from, let to, _): draw(label, from: from, to: to, stroke: "─", in: &line)
        case .answer(let from, let to, _): draw(label, from: from, to: to, stroke: "╌", in: &line)
        case .note(let lane, _): note(label, at: lane, in: &line)
        }
        return line
    }

    private func draw(_ label: String, from: Lane, to: Lane, stroke: Character, in line: inout [Character]) {
        let (start, end) = (min(column(from), column(to)) + 1, max(column(from), column(to)) - 1)
        guard start <= end else { return }
        for position in start...end {
            line[position] = stroke
        }
        line[from < to ? end : start] = from < to ? "▸" : "◂"
        line.place(" \(label) ", at: start + 2)
    }

    /// Beside the lane's line: on the right of it, and on the left of the last one.
    private func note(_ label: String, at lane: Lane, in line: inout [Character]) {
        let isLast = lane == diagram.lanes.last
        line.place(label, at: isLast ? column(lane) - 2 - label.count : column(lane) + 2)
        line[column(lane)] = "●"
    }
}

extension [Character] {
    fileprivate mutating func place(_ text: String, at position: Int) {
        for (offset, character) in text.enumerated() where indices.contains(position + offset) {
            self[position + offset] = character
        }
    }
}

extension String {
    fileprivate func shortened(to length: Int) -> String {
        count <= length ? self : prefix(length - 1) + "…"
    }

    fileprivate var trimmingTrailingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
