import Testing

/// A change to one file, as a `diff` block of the guide shows it: below `@@ File.swift @@`.
struct Hunk: Sendable, CustomTestStringConvertible {
    let file: String
    /// The stage that the change leads to.
    let stage: Int
    let lines: [String]
    /// Where it stands, for messages.
    let place: String

    var testDescription: String { "\(place), \(file)" }

    /// What the change finds, and what it leaves behind.
    var before: [String] { side("-") }
    var after: [String] { side("+") }

    private func side(_ mark: Character) -> [String] {
        lines.filter { $0.isEmpty || $0.hasPrefix(" ") || $0.first == mark }.map { String($0.dropFirst()) }
    }

    /// All changes that `Migration.md` shows, in their order.
    static let all = Result { try sections().flatMap { try hunks(of: $0) } }

    /// The text of the section on a stage.
    static func section(on stage: Int) throws -> String {
        try sections().filter { $0.stage == stage }.flatMap(\.lines).joined(separator: "\n")
    }

    /// Shows a call site of stage 3 before everything else.
    private static let summary = "## In one minute"

    private struct Section {
        let stage: Int
        /// The lines of the document before the section.
        let offset: Int
        var lines: [String] = []
    }

    private static func sections() throws -> [Section] {
        var sections: [Section] = []
        var isInside = false
        for (offset, line) in try Repository.text(of: "Migration.md").lines.enumerated() {
            if line.hasPrefix("## ") {
                let stage = line == summary ? 3 : line.prefixMatch(of: /## Stage (\d):/).flatMap { Int($0.1) }
                isInside = stage != nil
                if let stage { sections.append(Section(stage: stage, offset: offset)) }
            }
            if isInside { sections[sections.count - 1].lines.append(line) }
        }
        return sections
    }

    private static func hunks(of section: Section) throws -> [Hunk] {
        var hunks: [Hunk] = []
        var isInside = false
        for (index, line) in section.lines.enumerated() {
            let place = "Migration.md:\(section.offset + index + 1)"
            if line.hasPrefix("```") {
                isInside = line == "```diff"
            } else if isInside, let header = line.wholeMatch(of: /@@ (.+) @@/) {
                hunks.append(Hunk(file: String(header.1), stage: section.stage, lines: [], place: place))
            } else if isInside {
                let open = hunks.popLast()
                let last = try #require(open, "\(place): a change without the name of its file")
                hunks.append(Hunk(file: last.file, stage: last.stage, lines: last.lines + [line], place: last.place))
            }
        }
        return hunks
    }
}
