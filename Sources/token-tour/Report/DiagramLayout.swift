/// Where the lanes of a text diagram stand: as close together as the texts between them allow.
struct DiagramLayout: Hashable, Sendable {
    /// Longer texts are cut: an error of the system can be any length.
    static let longestLabel = 40

    /// Room for the times, on the left of everything.
    let timeWidth: Int
    /// The column of each lane's line.
    let columns: [Lane: Int]
    let width: Int

    init(_ diagram: SequenceDiagram) {
        let lanes = diagram.lanes
        var gaps = zip(lanes, lanes.dropFirst()).map { left, right in
            left.title.count - left.title.count / 2 + right.title.count / 2 + 2
        }
        let spans = diagram.rows.compactMap { row in Self.span(of: row, in: lanes) }
        // Short spans first: a long one often has room enough when they have theirs.
        for span in spans.sorted(by: { $0.gaps.count < $1.gaps.count }) {
            let missing = span.need - gaps[span.gaps].reduce(0, +)
            gaps[span.gaps.upperBound - 1] += max(0, missing)
        }
        timeWidth = diagram.rows.reduce(11) { width, row in max(width, row.time.count) }
        var columns: [Lane: Int] = [:]
        var column = timeWidth + 2 + (lanes.first?.title.count ?? 0) / 2
        for (index, lane) in lanes.enumerated() {
            columns[lane] = column
            column += index < gaps.count ? gaps[index] : 0
        }
        self.columns = columns
        width = column + (lanes.last?.title.count ?? 0) / 2 + 1
    }

    /// The gaps that a row's text lies in, and how many columns it needs there.
    private static func span(
        of row: SequenceDiagram.Row,
        in lanes: [Lane]
    ) -> (gaps: Range<Int>, need: Int)? {
        let indices = row.step.lanes.compactMap(lanes.firstIndex(of:))
        guard let first = indices.min(), let last = indices.max(), lanes.count > 1 else { return nil }
        let length = min(row.label.count, longestLabel)
        guard first == last else { return (first..<last, length + 6) }
        // A note stands on the right of its lane, and on the left of the last one.
        let gap = first == lanes.count - 1 ? first - 1 : first
        return (gap..<(gap + 1), length + 4)
    }
}
