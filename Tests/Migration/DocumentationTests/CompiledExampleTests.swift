import Testing

@Suite("What README.md, Migration.md and the articles show is compiled")
struct CompiledExampleTests {
    static let documents = ["README.md", "Migration.md"]
    static let blocks = Result { try (documents + Repository.articles()).flatMap { try CodeBlock.all(in: $0) } }

    @Test func `every Swift block is an excerpt of a file that the tests compile`() throws {
        let code = try CompiledCode()
        let blocks = try Self.blocks.get().filter { $0.language == "swift" }
        #expect(!blocks.isEmpty)
        let strangers = blocks.filter { !code.contains($0.lines) }.map(\.place)
        #expect(strangers == [], "quote a file that the tests compile, or add one to DocumentationTests/Examples")
    }

    @Test func `no Swift block stands in two places`() throws {
        let blocks = try Self.blocks.get().filter { $0.language == "swift" }
        for (index, block) in blocks.enumerated() {
            let copies = blocks[(index + 1)...].filter { other in
                other.lines.contains(excerpt: block.lines) || block.lines.contains(excerpt: other.lines)
            }
            #expect(copies.map(\.place) == [], "\(block.place) stands there as well: keep one, and link to it")
        }
    }

    @Test func `every block says what it is, and no code hides from these tests`() throws {
        let languages = ["swift", "diff", "sh", "text", "mermaid"]
        let unknown = try Self.blocks.get().filter { !languages.contains($0.language) }
        #expect(unknown.map(\.place) == [], "say swift, diff, sh, text or mermaid behind the fence")
    }

    @Test(arguments: Host.files)
    func `the article shows the whole file of each host of the contract`(_ path: String) throws {
        let host = try Repository.text(of: path).lines
        #expect(try CodeBlock.all(in: Host.article).contains { $0.lines == host }, "copy \(path) into its block again")
    }

    @Test(arguments: documents)
    func `every product that a document says to link exists`(_ document: String) throws {
        let manifest = try Repository.text(of: "Package.swift")
        let text = try Repository.text(of: document)
        // In the manifest's changes, and in a cell of a table.
        let named = text.matches(of: /(?:\.product\(name: "|\| `)(AccessToken\w+)/).map { String($0.1) }
        #expect(!named.isEmpty)
        let strangers = Set(named).filter { !manifest.contains(".library(name: \"\($0)\"") }
        #expect(strangers == [], "\(document) links what Package.swift does not offer")
    }
}
