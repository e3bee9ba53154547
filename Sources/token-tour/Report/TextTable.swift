/// A table whose columns line up: the first to the left, all others to the right.
struct TextTable: Sendable {
    let header: [String]
    let rows: [[String]]

    /// For a terminal.
    var text: String {
        let rule = widths.map { String(repeating: "─", count: $0) }
        return lines([header, rule] + rows, separator: "  ").joined(separator: "\n")
    }

    /// For a Markdown page.
    var markdown: String {
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        return lines([header, rule] + rows, separator: " | ").map { "| \($0) |" }.joined(separator: "\n")
    }

    private var widths: [Int] {
        header.indices.map { column in
            ([header] + rows).map { $0[column].count }.max() ?? 0
        }
    }

    private func lines(_ rows: [[String]], separator: String) -> [String] {
        rows.map { row in
            zip(row, widths).enumerated()
                .map { column, cell in
                    let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                    return column == 0 ? cell.0 + padding : padding + cell.0
                }
                .joined(separator: separator)
        }
    }
}
