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

    @Test func `every block says what it is, so that no code hides from these tests`() throws {
        let unknown = try Self.blocks.get().filter {
            !["swift", "diff", "sh", "text", "mermaid"].contains($0.language)
        }
        #expect(unknown.map(\.place) == [], "say swift, diff, sh, text or mermaid behind the fence")
    }

    @Test(arguments: Host.files)
    func `the article shows the whole file of each host of the contract`(_ path: String) throws {
        let host = try Repository.text(of: path).lines
        #expect(try CodeBlock.all(in: Host.article).contains { $0.lines == host }, "copy \(path) into its block again")
    }

    @Test func `every product that the documents name exists`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        let products = Set(manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) })
        for document in Self.documents {
            let text = try Repository.text(of: document)
            let named = Set(text.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) })
            #expect(named.subtracting(products) == [], "\(document) links what Package.swift does not offer")
        }
    }

    @Test(arguments: [
        ("README.md", "| link | when | begin at |"), ("Migration.md", "| you | link | begin at | stay |"),
    ])
    func `so does every product of the tables that say what to link`(_ document: String, _ header: String) throws {
        let manifest = try Repository.text(of: "Package.swift")
        let rows = try tableRows(under: header, in: document)
        #expect(!rows.isEmpty, "\(document) has no table \(header)")
        for row in rows {
            let product = try #require(row.firstMatch(of: /\| `([A-Z]\w+)` \|/)?.1, "\(row)")
            #expect(
                manifest.contains(".library(name: \"\(product)\""),
                "\(document) has a row for \(product), which is none"
            )
        }
    }
}
