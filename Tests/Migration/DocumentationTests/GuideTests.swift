import Testing

@Suite("What the guide says of other things")
struct GuideTests {
    static let guide = ["Migration.md", "Sources/Documentation.docc/MigrationReference.md"]

    @Test func `each exhibit that it names is in the gallery`() throws {
        let text = try Self.guide.map(Repository.text).joined()
        let named = Set(text.matches(of: /race-gallery ([a-z-]+)/).map { String($0.1) })
        #expect(!named.isEmpty)
        let exhibits = try Repository.swiftFiles(in: "Sources/Exploring/RaceGallery").map(Repository.text).joined()
        let strangers = named.filter { !exhibits.contains("name: \"\($0)\"") }
        #expect(strangers == [], "the guide names what `race-gallery --list` does not know")
    }

    @Test func `an article links to the files of other articles, which GitHub and the site both show`() throws {
        for article in try Repository.articles() {
            let text = try Repository.text(of: article)
            let isForGitHub = !text.contains("doc:")
            #expect(isForGitHub, "GitHub shows no doc link of \(article): write [Title](Page.md)")
            for link in text.matches(of: /(?:^|[^!])\[[^\]]*\]\(([^):#]+)[)#]/) {
                let target = article.split(separator: "/").dropLast().joined(separator: "/") + "/\(link.1)"
                #expect(link.1.hasSuffix(".md"), "docc lets the link to \(link.1) in \(article) go nowhere")
                #expect(Repository.exists(target), "\(article) links to \(link.1), which is not there")
            }
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
