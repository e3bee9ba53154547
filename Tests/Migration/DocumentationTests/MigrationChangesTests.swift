import Foundation
import Testing

/// The guide shows no code of its own: what it shows is what happens between the stages of the sample application.
@Suite("The changes in Migration.md are the changes between the stages of the sample application")
struct MigrationChangesTests {
    @Test func `each of them begins in the stage before and ends in its own`() throws {
        let hunks = try Hunk.all.get().filter { $0.file != "Package.swift" }
        #expect(Set(hunks.map(\.stage)) == [1, 2, 3, 4])
        for hunk in hunks {
            let (old, new) = (try file(hunk.file, at: hunk.stage - 1), try file(hunk.file, at: hunk.stage))
            #expect(
                holds(old, hunk.before),
                "\(hunk.place): not what \(path(of: hunk.file, at: hunk.stage - 1)) has: copy it"
            )
            #expect(
                holds(new, hunk.after),
                "\(hunk.place): not what \(path(of: hunk.file, at: hunk.stage)) has: copy it"
            )
            #expect(hunk.before != hunk.after, "\(hunk.place): changes nothing")
        }
    }

    @Test func `and there is no other change in the guide`() throws {
        let blocks = try CodeBlock.all(in: "Migration.md").filter { $0.language == "diff" }
        let inside = blocks.flatMap(\.lines).filter { $0.wholeMatch(of: /@@ .+ @@/) != nil }.count
        #expect(
            try inside == Hunk.all.get().count,
            "a diff stands outside of \"In one minute\" and of the stages, where nothing checks it: move it"
        )
        let nameless = blocks.filter { $0.lines.first?.hasPrefix("@@ ") != true }.map(\.place)
        #expect(nameless == [], "begin the block with the name of the file that changes: @@ App.swift @@")
    }

    @Test(arguments: 1...4)
    func `each file that changes is spoken of in the section of its stage`(_ stage: Int) throws {
        let section = try Hunk.section(on: stage)
        let names = try files(at: stage - 1).union(try files(at: stage))
        let changed = try names.filter { try file($0, at: stage - 1) != file($0, at: stage) }
        #expect(!changed.isEmpty)
        for name in changed.sorted() {
            let type = String(name.dropLast(".swift".count))
            #expect(
                section.contains(name) || section.contains("`\(type)`"),
                "\(name) changes from stage \(stage - 1) to \(stage); show it in that section of Migration.md, or name it"
            )
        }
    }

    @Test func `and the products that the app links are those that each stage is built with`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        let changes = try Hunk.all.get().filter { $0.file == "Package.swift" }
        var linked: Set<String> = []
        for stage in 1...4 {
            for hunk in changes where hunk.stage == stage {
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

    private func files(at stage: Int) throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: folder(stage)).path)
        )
    }

    private func file(_ name: String, at stage: Int) throws -> [String]? {
        guard try files(at: stage).contains(name) else { return nil }
        return try Repository.text(of: path(of: name, at: stage)).lines
    }

    private func path(of name: String, at stage: Int) -> String { "\(folder(stage))/\(name)" }

    private func folder(_ stage: Int) -> String { "Tests/Migration/SampleApplication/Stage\(stage)" }

    /// A file holds the lines one below the other; where there is no file, there is nothing to be held.
    private func holds(_ file: [String]?, _ lines: [String]) -> Bool {
        guard let file else { return lines.isEmpty }
        return !lines.isEmpty && file.contains(excerpt: lines)
    }

    private func products(in lines: [String]) -> Set<String> {
        Set(lines.flatMap { $0.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) } })
    }
}
