import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("The page on the articles", .takesTurnsToExplore, .endsHangs)
struct ArticleTests {
    /// A row of the page on the articles: a listing or a claim, where it is, whether it holds, and the repair.
    private struct Row {
        let article: Article
        let cells: [String]

        var place: String { "“\(article.rawValue)”: \(cells[0])" }
    }

    private static let rows = Result { try readRows() }

    private static func readRows() throws -> [Row] {
        var rows: [Row] = []
        var article: Article?
        for line in try page("Documentation.docc/Articles").split(separator: "\n") {
            if line.hasPrefix("### ") {
                article = Article.allCases.first { line.contains($0.rawValue) }
            } else if let article, line.hasPrefix("| "), !line.hasPrefix("| in the article"), !line.hasPrefix("| --") {
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                try #require(cells.count == 4, "\(line)")
                rows.append(Row(article: article, cells: cells))
            }
        }
        return rows
    }

    @Test func `each row says of its listing or claim what the gallery finds, and names the repair`() throws {
        for row in try Self.rows.get() {
            guard let name = commands(in: row.cells[1]).first else {
                let paths = row.cells[1].matches(of: /`([^` ]+)`/).map { String($0.1) }
                // A test of the pages looks whether the command is there.
                let isCommand = row.cells[1].contains(/`swift (?:run|test)\s/)
                #expect(!paths.isEmpty || isCommand, "\(row.place) leads nowhere")
                // A test has run what the words say; a file has to be read.
                #expect(!paths.contains { $0.hasSuffix("Tests.swift") }, "\(row.place): name the test")
                for path in paths { try check(path, row) }
                continue
            }
            let version = try #require(Entry.all.first { $0.testDescription == name }?.version, "\(row.place): \(name)")
            if version.listings.contains(where: { $0.article == row.article && $0.name == row.cells[0] }) {
                let verdict = version.breaks != nil ? "breaks" : version.unseenFault != nil ? "data race" : "holds"
                #expect(row.cells[2] == verdict, "\(row.place)")
                let named = commands(in: row.cells[3])
                #expect(version.repair == nil || named.first == version.repair, "\(row.place)")
                #expect(named.allSatisfy { name in Entry.all.contains { $0.testDescription == name } }, "\(row.place)")
            } else {
                #expect(row.cells[2] != "holds" || version.fault == nil, "\(row.place)")
            }
        }
    }

    /// The file is there, and has what the row quotes from it.
    private func check(_ path: String, _ row: Row) throws {
        let text = try String(contentsOf: repository.appending(path: path), encoding: .utf8)
        guard path.hasSuffix(".md") else { return }
        for quote in row.cells[3].matches(of: /“([^”]+)”/) {
            #expect(text.contains(quote.1), "\(row.place): \(path) does not say “\(quote.1)”")
        }
    }

    @Test(arguments: Entry.all)
    func `each listing of the gallery has one row, under its article`(entry: Entry) throws {
        for listing in entry.version.listings {
            let found = try Self.rows.get().filter { $0.article == listing.article && $0.cells[0] == listing.name }
            #expect(found.count == 1, "\(listing.name), of “\(listing.article.rawValue)”")
            #expect(found.first?.cells[1] == "`\(entry.testDescription)`")
        }
    }

    @Test
    func `the page names the versions that hold with no choice of when their task begins, and no others`() async throws
    {
        let paragraphs = try page("Documentation.docc/Articles").split(separator: "\n\n")
        let paragraph = try #require(paragraphs.first { $0.hasPrefix("**What *holds* leaves out.**") })
        var names: [String] = []
        for entry in Entry.holding where await entry.finding()?.report.omissions.contains(.hiddenStarts) == true {
            names.append(entry.testDescription)
        }
        let list = names.map { "`\($0)`" }.joined(separator: ", ")
        #expect(commands(in: String(paragraph)) == names, "end the paragraph with: \(list)")
    }

    @Test(arguments: Gallery.exhibits.map(\.name))
    func `each exhibit is led to`(name: String) throws {
        #expect(try page("Documentation.docc/Articles").contains("`\(name) "))
    }
}

/// The exhibits and versions that a text names: `exhibit version`.
func commands(in text: String) -> [String] {
    text.matches(of: /`([a-z]+(?:-[a-z]+)* [a-z0-9]+(?:-[a-z0-9]+)*)`/).map { String($0.1) }
}

func page(_ path: String) throws -> String {
    try String(contentsOf: repository.appending(path: "Sources/\(path).md"), encoding: .utf8)
}
