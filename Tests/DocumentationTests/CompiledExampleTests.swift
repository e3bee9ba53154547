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
        #expect(strangers == [], "stand in no compiled file")
    }

    @Test func `every block says what it is, so that no code hides from these tests`() throws {
        let unknown = try Self.blocks.get().filter {
            !["swift", "diff", "sh", "text", "mermaid"].contains($0.language)
        }
        #expect(unknown.map(\.place) == [])
    }

    @Test(arguments: Host.files)
    func `the README shows the whole file of each host of the contract`(_ path: String) throws {
        let host = try Repository.text(of: path).lines
        #expect(try CodeBlock.all(in: "README.md").contains { $0.lines == host })
    }

    @Test func `every product that the documents name exists`() throws {
        let manifest = try Repository.text(of: "Package.swift")
        let products = Set(manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) })
        for document in Self.documents {
            let text = try Repository.text(of: document)
            let named = Set(text.matches(of: /\.product\(name: "(\w+)"/).map { String($0.1) })
            #expect(named.isSubset(of: products), "\(document)")
        }
        let rows = try tableRows(under: "| link | when | you get |", in: "README.md")
        #expect(!rows.isEmpty)
        #expect(Set(rows.map { String($0.split(separator: "`")[1]) }).isSubset(of: products))
    }
}
