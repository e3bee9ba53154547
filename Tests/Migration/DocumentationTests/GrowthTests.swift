import Foundation
import Testing

@Suite("The diffs of Growth.md are the changes from one version of a service to the next")
struct GrowthTests {
    private struct Change {
        let from: String
        let to: String
        var lines: [String] = []

        func side(_ mark: Character) -> [String] {
            lines.filter { $0.isEmpty || $0.hasPrefix(" ") || $0.first == mark }.map { String($0.dropFirst()) }
        }
    }

    @Test func `each of them begins in one version and ends in the next`() throws {
        let changes = try changes()
        let steps = Set(changes.map { "\($0.from) → \($0.to)" })
        #expect(steps.count == 5)
        for change in changes {
            #expect(
                try code(of: change.from).contains(excerpt: change.side("-")),
                "\(change.from): not what Growth.md removes:\n\(change.lines.joined(separator: "\n"))"
            )
            #expect(
                try code(of: change.to).contains(excerpt: change.side("+")),
                "\(change.to): not what Growth.md adds:\n\(change.lines.joined(separator: "\n"))"
            )
            #expect(change.side("-") != change.side("+"))
        }
    }

    private func changes() throws -> [Change] {
        var changes: [Change] = []
        for block in try CodeBlock.all(in: "Sources/Documentation.docc/Growth.md") where block.language == "diff" {
            for line in block.lines {
                if let header = line.wholeMatch(of: /@@ (.+) → (.+) @@/) {
                    changes.append(Change(from: String(header.1), to: String(header.2)))
                } else {
                    try #require(!changes.isEmpty, "a diff without a header")
                    changes[changes.count - 1].lines.append(line)
                }
            }
        }
        return changes
    }

    /// A file of the sample application, or a version of the gallery's service.
    private func code(of name: String) throws -> [String] {
        guard !name.hasSuffix(".swift") else {
            return try Repository.text(of: "Tests/Migration/SampleApplication/\(name)").lines
        }
        let file = "Sources/Exploring/RaceGallery/Exhibits/AccessTokenService+Versions.swift"
        let type = try Repository.text(of: file).lines.drop { !$0.contains("class \(name):") }
        return Array(type.prefix { $0 != "}" })
    }
}
