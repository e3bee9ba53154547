import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("In the articles about the gallery", .eightAtATime, .timeLimit(.minutes(10)))
struct ArticleTests {
    @Test("the costs of a strategy are those of a run")
    func costs() async throws {
        let rows = [
            ("bank-account check-then-act", withdrawals { CheckThenAct() }),
            ("bank-account bounce", withdrawals { Bounce() }),
            ("bank-account queue-and-await", withdrawals { QueueAndAwait() }),
            ("bank-account optimistic", withdrawals { Optimistic() }),
            ("bank-account re-validate", withdrawals { Revalidate() }),
            ("bank-account snapshot", withdrawals { SnapshotAccount() }),
            ("bank-account compare-and-swap", withdrawals { VersionedAccount() }),
            ("image-cache check-then-download", pictures { CheckThenDownload(download: $0) }),
            ("image-cache in-flight", pictures { InFlight(download: $0) }),
        ]
        let article = try page("Exploring/InterleavingExplorer/InterleavingExplorer.docc/ChoosingAStrategy")
        for (name, scenario) in rows {
            let replay = await Explorer().replay("0", of: scenario)
            #expect(replay.failure == nil, "\(String(describing: replay.failure))")
            let started = replay.trace.effects.count { $0 == "starts" }
            let served = replay.trace.effects.count { $0 == "served" }
            let seconds = Int(try #require(replay.trace.steps.last).time / .seconds(1))
            let row = "| `\(name)` | \(started) | \(started - min(started, served)) | \(served) | \(seconds) |\n"
            #expect(article.contains(row), "ChoosingAStrategy.md lacks this row:\n\(row)")
        }
    }

    @Test("every strategy that it names is sound")
    func names() throws {
        let article = try page("Exploring/InterleavingExplorer/InterleavingExplorer.docc/ChoosingAStrategy")
        for name in commands(in: article) {
            let entry = try #require(Entry.all.first { $0.testDescription == name }, "\(name)")
            #expect(
                entry.version.fault == nil || name.hasSuffix("check-then-act") || name.hasSuffix("check-then-download")
            )
        }
    }

    /// A row of the page on the articles: a listing or a claim, where it is, whether it holds, and the repair.
    private struct Row {
        let article: Article
        let cells: [String]

        var place: String { "“\(article.rawValue)”: \(cells[0])" }
    }

    private func rows() throws -> [Row] {
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

    @Test("each row says of its listing or claim what the gallery finds, and names the repair")
    func verdicts() throws {
        for row in try rows() {
            guard let name = commands(in: row.cells[1]).first else {
                let paths = row.cells[1].matches(of: /`([^` ]+)`/).map { String($0.1) }
                #expect(!paths.isEmpty || row.cells[1].contains("swift run "), "\(row.place) leads nowhere")
                for path in paths {
                    let file = repository.appending(path: path).path
                    #expect(FileManager.default.fileExists(atPath: file), "\(row.place): \(path)")
                }
                continue
            }
            let version = try #require(Entry.all.first { $0.testDescription == name }?.version, "\(row.place): \(name)")
            if let listing = version.listing, row.article == listing.article, row.cells[0] == listing.name {
                let verdict = version.breaks != nil ? "breaks" : version.unseenFault != nil ? "data race" : "holds"
                #expect(row.cells[2] == verdict, "\(row.place)")
                let named = commands(in: row.cells[3])
                #expect(version.repair == nil || named.first == version.repair, "\(row.place)")
                #expect(named.allSatisfy { name in Entry.all.contains { $0.testDescription == name } }, "\(row.place)")
            } else {
                #expect(version.listing == nil || row.cells[2] != "holds" || version.fault == nil, "\(row.place)")
            }
        }
    }

    @Test("each listing of the gallery has one row, under its article", arguments: Entry.all)
    func listings(entry: Entry) throws {
        guard let listing = entry.version.listing else { return }
        let found = try rows().filter { $0.article == listing.article && $0.cells[0] == listing.name }
        #expect(found.count == 1, "\(listing.name), of “\(listing.article.rawValue)”")
        #expect(found.first?.cells[1] == "`\(entry.testDescription)`")
    }

    @Test("each exhibit is led to", arguments: Gallery.exhibits.map(\.name))
    func exhibits(name: String) throws {
        #expect(try page("Documentation.docc/Articles").contains("`\(name) "))
    }

    /// The exhibits and versions that a text names: `exhibit version`.
    private func commands(in text: String) -> [String] {
        text.matches(of: /`([a-z]+(?:-[a-z]+)* [a-z0-9]+(?:-[a-z0-9]+)*)`/).map { String($0.1) }
    }

    private func page(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: "Sources/\(path).md"), encoding: .utf8)
    }

    /// Twenty callers come at the same moment, the work of each takes a second, and ten of them can be served.
    private func withdrawals(_ open: @escaping @Sendable () -> any Account) -> Scenario {
        Scenario("twenty withdrawals of 10 from an account of 100") { run in
            let account = open()
            for number in 1...20 {
                run.operation("\(number)", mayThrow: true) {
                    try await account.withdrawUntilStateIsUnchanged(10) {
                        run.effect("starts")
                        try await run.clock.sleep(for: .seconds(1))
                    }
                    run.effect("served")
                }
            }
        }
    }

    private func pictures(_ make: @escaping @Sendable (@escaping Download) -> any Images) -> Scenario {
        Scenario("twenty views of one picture") { run in
            let cache = make { _ in
                run.effect("starts")
                try await run.clock.sleep(for: .seconds(1))
                return Data()
            }
            for number in 1...20 {
                run.operation("\(number)") {
                    _ = try await cache.image(url: URL(filePath: "/a.png"))
                    run.effect("served")
                }
            }
        }
    }
}
