extension SequenceDiagram {
    /// The diagram for a terminal: a vertical line for each lane, and arrows between the lines.
    ///
    /// - Parameter width: columns. Longer notes are broken into several lines, and longer labels are cut.
    package func text(width: Int = 98) -> String {
        TextDiagram(self, width: width).text
    }
}

/// Draws a diagram with its lanes as close together as their texts allow.
private struct TextDiagram {
    /// Where the lanes stand if no line of text is longer than `longestLine`.
    private struct Layout {
        let longestLine: Int
        let marginWidth: Int
        private(set) var columns: [String: Int] = [:]
        private(set) var width = 0

        init(_ diagram: SequenceDiagram, longestLine: Int) {
            self.longestLine = longestLine
            marginWidth = diagram.rows.map(\.mark.count).max() ?? 0
            let lanes = diagram.lanes
            var gaps = zip(lanes, lanes.dropFirst()).map { left, right in
                left.count - left.count / 2 + right.count / 2 + 2
            }
            var needs = diagram.rows.compactMap { need(of: $0.content, in: lanes) }
            // Short spans first: a long span often has room enough after that.
            needs.sort { $0.gaps.count < $1.gaps.count }
            for need in needs where need.gaps.upperBound <= gaps.count {
                let missing = need.columns - gaps[need.gaps].reduce(0, +)
                gaps[need.gaps.upperBound - 1] += max(0, missing)
            }
            var column = marginWidth + 2 + (lanes.first?.count ?? 0) / 2
            for (lane, gap) in zip(lanes, gaps + [0]) {
                columns[lane] = column
                column += gap
            }
            // A single lane has its notes on the right, where no gap is.
            let lastNeed = lanes.count == 1 ? needs.map(\.columns).max() ?? 0 : 0
            width = column + max((lanes.last?.count ?? 0) / 2 + 1, lastNeed)
        }

        /// The gaps that a row's text lies in, and how many columns the text needs there.
        private func need(of content: SequenceDiagram.Content, in lanes: [String]) -> (gaps: Range<Int>, columns: Int)?
        {
            let indices = content.lanes.compactMap(lanes.firstIndex(of:))
            guard let first = indices.min(), let last = indices.max() else { return nil }
            let columns = lines(of: content).map(\.count).max() ?? 0
            guard first == last else { return (first..<last, columns + 6) }
            // A note stands on the right of its lane. On the last lane it stands on the left.
            let gap = max(0, first == lanes.count - 1 ? first - 1 : first)
            return (gap..<(gap + 1), columns + 4)
        }

        /// The lines that the text of a row takes.
        func lines(of content: SequenceDiagram.Content) -> [String] {
            let lines =
                switch content {
                case .note: content.text.wrapped(to: longestLine)
                case .arrow: [content.text]
                }
            return lines.map { $0.count <= longestLine ? $0 : $0.prefix(longestLine - 1) + "…" }
        }
    }

    private let diagram: SequenceDiagram
    private let layout: Layout

    init(_ diagram: SequenceDiagram, width: Int) {
        self.diagram = diagram
        let layouts = stride(from: 40, through: 8, by: -1).lazy.map { Layout(diagram, longestLine: $0) }
        layout = layouts.first { $0.width <= width } ?? Layout(diagram, longestLine: 8)
    }

    var text: String {
        let lines = [titles] + diagram.rows.flatMap(lines)
        return lines.map { String($0).trimmingTrailingSpaces }.joined(separator: "\n")
    }

    private func column(_ lane: String) -> Int {
        layout.columns[lane] ?? 0
    }

    private var titles: [Character] {
        var line = [Character](repeating: " ", count: layout.width)
        for lane in diagram.lanes {
            line.place(lane, at: column(lane) - lane.count / 2)
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

    private func lines(_ row: SequenceDiagram.Row) -> [[Character]] {
        var lines = layout.lines(of: row.content).map { text in
            var line = lifelines
            switch row.content {
            case .note(let lane, _):
                let isOnTheLeft = lane == diagram.lanes.last && diagram.lanes.count > 1
                line.place(text, at: isOnTheLeft ? column(lane) - 2 - text.count : column(lane) + 2)
            case .arrow(let from, let to, let isDashed, _):
                draw(text, from: column(from), to: column(to), stroke: isDashed ? "╌" : "─", in: &line)
            }
            return line
        }
        if lines.isEmpty { lines = [lifelines] }
        lines[0].place(row.mark, at: layout.marginWidth - row.mark.count)
        if case .note(let lane, _) = row.content {
            lines[0][column(lane)] = "●"
        }
        return lines
    }

    private func draw(_ label: String, from: Int, to: Int, stroke: Character, in line: inout [Character]) {
        let (start, end) = (min(from, to) + 1, max(from, to) - 1)
        guard start <= end else { return }
        for position in start...end {
            line[position] = stroke
        }
        line[from < to ? end : start] = from < to ? "▸" : "◂"
        line.place(" \(label) ", at: start + 2)
    }
}

extension [Character] {
    fileprivate mutating func place(_ text: String, at position: Int) {
        for (offset, character) in text.enumerated() where indices.contains(position + offset) {
            self[position + offset] = character
        }
    }
}
