import Foundation
import Testing

/// The guide shows no code of its own: what it shows is what happens between the stages of the sample application.
@Suite("The diffs of Migration.md and Growth.md")
struct HunkTests {
    @Test func `begin in one version of a file and end in the next`() throws {
        let hunks = try Hunk.all.get()
        #expect(Set(hunks.compactMap(\.stage)) == [1, 2, 3, 4])
        #expect(Set(hunks.filter { $0.stage == nil }.map { "\($0.old) → \($0.new)" }).count == 4)
        for hunk in hunks where !hunk.new.hasSuffix("/Package.swift") {
            #expect(try holds(hunk.old, hunk.before), "\(hunk): not what \(hunk.old) has: copy it")
            #expect(try holds(hunk.new, hunk.after), "\(hunk): not what \(hunk.new) has: copy it")
            #expect(hunk.before != hunk.after, "\(hunk): changes nothing")
        }
    }

    @Test(arguments: 1...4)
    func `show each file that changes, or the section of its stage names it`(_ stage: Int) throws {
        let section = try Hunk.section(on: stage)
        let names = try files(at: stage - 1).union(try files(at: stage))
        let changed = try names.filter { try code(of: "Stage\(stage - 1)/\($0)") != code(of: "Stage\(stage)/\($0)") }
        #expect(!changed.isEmpty)
        for name in changed.sorted() {
            #expect(
                section.contains(name) || section.contains("`\(name.dropLast(".swift".count))`"),
                "\(name) changes from stage \(stage - 1) to \(stage); show it in that section of Migration.md, or name it"
            )
        }
    }

    @Test func `link the products that each stage is built with`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        var linked: Set<String> = []
        for stage in 1...4 {
            for hunk in try Hunk.all.get() where hunk.new == "Stage\(stage)/Package.swift" {
                linked.subtract(products(in: hunk.before))
                linked.formUnion(products(in: hunk.after))
            }
            let targets = try #require(
                manifest.firstMatch(of: try Regex("\\.sampleStage\\(\(stage), \\[(.*)\\]\\)"))?[1]
                    .substring
            )
            #expect(
                linked == Set(targets.matches(of: /"(\w+)"/).map { String($0.1) }),
                "the Package.swift changes of Migration.md up to stage \(stage), and sampleStage(\(stage)) of Package.swift: make them one"
            )
        }
    }

    private let sample = "Tests/Migration/SampleApplication"

    private func files(at stage: Int) throws -> Set<String> {
        Set(
            try Repository.swiftFiles(in: "\(sample)/Stage\(stage)").map { String($0.split(separator: "/").last ?? "") }
        )
    }

    /// A file of the sample application, if it is there, or a version of the gallery's service.
    private func code(of name: String) throws -> [String]? {
        guard !name.contains("/") else {
            let path = "\(sample)/\(name)"
            return Repository.exists(path) ? try Repository.text(of: path).lines : nil
        }
        let file = "Sources/Exploring/RaceGallery/Exhibits/GuardingQueue+Versions.swift"
        let type = try Repository.text(of: file).lines.drop { !$0.contains("class \(name):") }
        return Array(type.prefix { $0 != "}" })
    }

    /// The file has the lines one below the other; where there is no file, there is nothing to have.
    private func holds(_ name: String, _ lines: [String]) throws -> Bool {
        guard let code = try code(of: name) else { return lines.isEmpty }
        return !lines.isEmpty && code.contains(excerpt: lines)
    }

    private func products(in lines: [String]) -> Set<String> {
        Set(lines.flatMap { $0.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) } })
    }
}
