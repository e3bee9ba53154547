/// A table with aligned columns: the first column to the left, all others to the right.
package struct TextTable: Sendable {
    private let header: [String]
    private let rows: [[String]]

    package init(header: [String], rows: [[String]]) {
        self.header = header
        self.rows = rows
    }

    /// For a terminal.
    package var text: String {
        let rule = widths.map { String(repeating: "─", count: $0) }
        let lines = ([header, rule] + rows).map { row in
            zip(row, widths).enumerated().map { column, cell in
                let spaces = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + spaces : spaces + cell.0
            }
            .joined(separator: "  ").trimmingTrailingSpaces
        }
        return lines.joined(separator: "\n")
    }

    private var widths: [Int] {
        header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
    }
}

extension String {
    /// Appends spaces up to this width.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// Breaks the text between words into lines of at most this width.
    ///
    /// A longer word has a line of its own.
    package func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for word in split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    var trimmingTrailingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
