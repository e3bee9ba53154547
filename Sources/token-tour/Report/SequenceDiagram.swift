/// One round, made short enough to be read: equal steps are one row that says how many there were.
struct SequenceDiagram: Hashable, Sendable {
    /// All steps of a round that are equal.
    struct Row: Hashable, Sendable {
        let step: Step
        var count: Int
        let first: Duration
        var last: Duration
    }

    /// The lanes that take part, from left to right.
    let lanes: [Lane]
    /// In the order in which the first of each happened.
    let rows: [Row]

    init(_ moments: [Moment]) {
        var rows: [Row] = []
        var indices: [Step: Int] = [:]
        for moment in moments {
            if let index = indices[moment.step] {
                rows[index].count += 1
                rows[index].last = max(rows[index].last, moment.time)
            } else {
                indices[moment.step] = rows.count
                rows.append(Row(step: moment.step, count: 1, first: moment.time, last: moment.time))
            }
        }
        self.rows = rows
        lanes = Set(rows.flatMap(\.step.lanes)).sorted()
    }
}

extension SequenceDiagram.Row {
    /// What the step says, and how often it was said.
    var label: String {
        let text =
            switch step {
            case .request(_, _, let text), .answer(_, _, let text), .note(_, let text): text
            }
        // The error of a system can have several lines, a step has one.
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return count == 1 ? line : "\(line) ×\(count)"
    }

    /// When, in milliseconds from the beginning of the round.
    var time: String {
        let (first, last) = (first.milliseconds, last.milliseconds)
        return first == last ? "\(first) ms" : "\(first)–\(last) ms"
    }
}
