import Testing

@Suite("What the documents say of other things")
struct GuideTests {
    @Test func `each exhibit that the guide names is in the gallery`() throws {
        let guide = ["Migration.md", "Sources/Documentation.docc/MigrationReference.md"]
        let text = try guide.map(Repository.text).joined()
        let named = Set(text.matches(of: /race-gallery ([a-z-]+)/).map { String($0.1) })
        #expect(!named.isEmpty)
        let exhibits = try Repository.swiftFiles(in: "Sources/Exploring/RaceGallery").map(Repository.text).joined()
        let strangers = named.filter { !exhibits.contains("name: \"\($0)\"") }
        #expect(strangers == [], "the guide names what `race-gallery --list` does not know")
    }

    private static let documents = Result { try CompiledExampleTests.documents + Repository.articles() }

    @Test func `each program that a page runs is in the package, and knows the options`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        for document in try Self.documents.get() {
            let text = try Repository.text(of: document)
            for command in text.matches(of: /swift run (?:-c release )?([a-z]+(?:-[a-z]+)*)([^`\n]*)/) {
                let program = try Regex("\\.program\\(\\s*\"\(command.1)\",\\s*at: \"([^\"]+)\"")
                let folder = try #require(manifest.firstMatch(of: program)?[1].substring, "\(document): \(command.0)")
                let code = try Repository.swiftFiles(in: String(folder)).map(Repository.text).joined()
                for option in command.2.matches(of: /--[a-z-]+/) {
                    #expect(code.contains("\"\(option.0)"), "\(document): \(command.0)")
                }
            }
        }
    }

    @Test func `each test that a page filters is there, and each path that it names`() throws {
        let tests = try Repository.swiftFiles(in: "Tests").map(Repository.text).joined()
        for document in try Self.documents.get() {
            let text = try Repository.text(of: document)
            for filter in text.matches(of: /swift test --filter (\w+)/) {
                let isThere = ["struct", "class", "func"].contains { tests.contains("\($0) \(filter.1)") }
                #expect(isThere, "\(document): \(filter.0)")
            }
            // A file that is there only while it is needed.
            for path in text.matches(of: /`((?:Sources|Tests|\.ci)\/[^` ]+)`/)
            where path.1 != ".ci/api-changes" {
                #expect(Repository.exists(String(path.1)), "\(document): \(path.1)")
            }
        }
    }

    @Test func `each link leads to a file and a heading, which GitHub and the site both show`() throws {
        let articles = try Repository.articles()
        for document in CompiledExampleTests.documents + articles {
            let text = try Repository.text(of: document)
            let hasDocLink = text.contains("doc:")
            #expect(!hasDocLink, "GitHub shows no doc link of \(document): write [Title](Page.md)")
            for link in text.matches(of: /(?:^|[^!])\[[^\]]*\]\(([^):#]*)(#[^)]*)?\)/) {
                let folder = document.split(separator: "/").dropLast().map { "\($0)/" }.joined()
                let target = link.1.isEmpty ? document : folder + link.1
                guard Repository.exists(target) else {
                    Issue.record("\(document) links to \(target), which is not there: mend the link")
                    continue
                }
                #expect(
                    target.hasSuffix(".md") || !articles.contains(document),
                    "docc lets the link to \(target) in \(document) go nowhere"
                )
                guard let anchor = link.2 else { continue }
                let headings = try Repository.text(of: target).lines.filter { $0.hasPrefix("#") }.map(\.anchor)
                #expect(
                    headings.contains(String(anchor)),
                    "\(document) links to \(target)\(anchor), which is no heading: mend the link or the heading"
                )
            }
        }
    }
}

extension String {
    /// What a heading is linked by.
    fileprivate var anchor: String {
        let words = drop { $0 == "#" || $0 == " " }.lowercased()
        return "#" + words.replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
}
