import Testing

@testable import RaceGallery

@Suite("What Migration.md says of other things")
struct GuideTests {
    @Test func `each diagram is what a run of today draws`() async throws {
        let drawn = [try await Recording.ofBothWorlds(), await Recording.ofSignOut()]
        let shown = try CodeBlock.all(in: "Migration.md").filter { $0.language == "mermaid" }.map(\.lines)
        #expect(shown.count == drawn.count, "GuideTests draws \(drawn.count) diagrams, Migration.md has \(shown.count)")
        for (shown, drawn) in zip(shown, drawn) {
            let text = drawn.joined(separator: "\n")
            #expect(shown == drawn, "put what the run drew into the mermaid block of Migration.md:\n\(text)")
        }
    }

    @Test func `each exhibit that it names is in the gallery`() throws {
        let text = try Repository.text(of: "Migration.md")
        let named = text.matches(of: /race-gallery ([a-z-]+)/).map { String($0.1) }
        #expect(!named.isEmpty)
        let strangers = Set(named).subtracting(Gallery.exhibits.map(\.name))
        #expect(strangers == [], "Migration.md names what `race-gallery --list` does not know")
    }

    @Test func `an article links by doc, where docc looks, or by a whole address`() throws {
        for article in try Repository.articles() {
            let links = try Repository.text(of: article).matches(of: /(?:^|[^!])\[[^\]]*\]\(([^):]*)\)/).map {
                String($0.1)
            }
            #expect(links == [], "docc lets a link to a file go nowhere: write <doc:Page> in \(article)")
        }
    }

    @Test func `each link inside the documents leads to a heading or a file`() throws {
        for document in CompiledExampleTests.documents {
            for link in try Repository.text(of: document).matches(of: /\]\(([^)#:]*)(#[^)]*)?\)/) {
                let target = link.1.isEmpty ? document : String(link.1)
                guard let anchor = link.2 else {
                    #expect(
                        Repository.exists(target),
                        "\(document) links to \(target), which is not there: mend the link"
                    )
                    continue
                }
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
