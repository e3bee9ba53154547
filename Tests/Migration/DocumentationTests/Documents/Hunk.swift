import Testing

/// A change from one file to another, as a `diff` block shows it: below `@@ Before → After @@`, or, in the section of
/// the guide on a stage, below `@@ File.swift @@`.
struct Hunk: Sendable, CustomTestStringConvertible {
    /// Where the change stands, for messages.
    let testDescription: String
    /// The stage that the change leads to, in the guide.
    let stage: Int?
    let (old, new): (String, String)
    private var lines: [String] = []

    /// What the change finds, and what it leaves behind.
    var before: [String] { side("-") }
    var after: [String] { side("+") }

    private func side(_ mark: Character) -> [String] {
        lines.filter { $0.isEmpty || $0.hasPrefix(" ") || $0.first == mark }.map { String($0.dropFirst()) }
    }

    private init(_ place: String, stage: Int?, from old: String, to new: String) {
        testDescription = "\(place), \(new)"
        self.stage = stage
        (self.old, self.new) = (old, new)
    }

    static let all = Result { try ["Migration.md", "Sources/Documentation.docc/Growth.md"].flatMap(all) }

    private static func all(in document: String) throws -> [Hunk] {
        let stages = try stages(in: document)
        return try CodeBlock.all(in: document).filter { $0.language == "diff" }.flatMap { block in
            try block.lines.reduce(into: []) { hunks, line in
                guard let header = line.wholeMatch(of: /@@ (?:(.+) → )?(.+) @@/) else {
                    try #require(!hunks.isEmpty, "\(block.place): begin with the name of the file, @@ App.swift @@")
                    return hunks[hunks.count - 1].lines.append(line)
                }
                let (stage, name) = (stages[block.line - 1], String(header.2))
                let sides =
                    header.1.map { (String($0), name) }
                    ?? stage.map { ("Stage\($0 - 1)/\(name)", "Stage\($0)/\(name)") }
                let (old, new) = try #require(sides, "\(block.place): outside of the stages, say @@ Before → After @@")
                hunks.append(Hunk(block.place, stage: stage, from: old, to: new))
            }
        }
    }

    /// The text of the guide's section on a stage.
    static func section(on stage: Int) throws -> String {
        zip(try Repository.text(of: guide).lines, try stages(in: guide)).filter { $1 == stage }.map(\.0)
            .joined(separator: "\n")
    }

    private static let guide = "Migration.md"

    /// For each line of a document, the stage that its section is on.
    private static func stages(in document: String) throws -> [Int?] {
        var stage: Int?
        return try Repository.text(of: document).lines.map { line in
            if line.hasPrefix("## ") {
                // The summary shows a call site of stage 3 before everything else.
                stage = line == "## In one minute" ? 3 : line.prefixMatch(of: /## Stage (\d):/).flatMap { Int($0.1) }
            }
            return stage
        }
    }
}
