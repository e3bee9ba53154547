import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

/// Compares the tables of the page on strategies with a run of each version, in first-in-first-out order.
@Suite("The page on strategies", .takesTurnsToExplore, .endsHangs)
struct StrategyTests {
    private static let path = "Exploring/InterleavingExplorer/InterleavingExplorer.docc/ChoosingAStrategy"

    /// The accounts, with what the article says of its strategies.
    private static let accounts: [(version: String, strategy: String?, open: @Sendable () -> any Account)] = [
        ("bank-account check-then-act", nil, { CheckThenAct() }),
        ("bank-account bounce", "low, high", { Bounce() }),
        ("bank-account queue-and-await", "medium, low", { QueueAndAwait() }),
        ("bank-account optimistic", "high, high", { Optimistic() }),
        ("bank-account re-validate", "low, medium", { Revalidate() }),
        ("bank-account check-again", nil, { CheckAgain() }),
        ("bank-account compare-and-swap", "medium, medium", { VersionedAccount() }),
    ]

    private static let caches: [(version: String, make: @Sendable (@escaping Download) -> any Images)] = [
        ("image-cache check-then-download", { CheckThenDownload(download: $0) }),
        ("image-cache keeps-first", { KeepsFirst(download: $0) }),
        ("image-cache set-in-flight", { SetInFlight(download: $0) }),
        ("image-cache one-at-a-time", { OneAtATime(download: $0) }),
        ("image-cache registry", { Registry(download: $0) }),
        ("image-cache entries", { EntryCache(download: $0) }),
        ("image-cache in-flight", { InFlight(download: $0) }),
    ]

    @Test func `has the cost of each account`() async throws {
        var rows: [String] = []
        for account in Self.accounts {
            let run = try await withdrawals(account.open)
            let thrownAway = run.started - min(run.started, run.served)
            rows.append("| `\(account.version)` | \(run.started) | \(thrownAway) | \(run.served) | \(run.seconds) |")
        }
        try expectTable("| version | approvals | thrown away | callers served | seconds |", rows)
    }

    @Test func `has the cost of each cache`() async throws {
        var rows: [String] = []
        for cache in Self.caches {
            let one = try await views(ofPictures: 1, cache.make)
            let twenty = try await views(ofPictures: 20, cache.make)
            rows.append("| `\(cache.version)` | \(one.started) | \(one.served) | \(one.seconds) | \(twenty.seconds) |")
        }
        try expectTable(
            "| version | downloads of one picture | views served | seconds | seconds for twenty pictures |",
            rows
        )
    }

    @Test func `has the complexity and the throughput of each strategy, beside what the article says`() async throws {
        var rows: [String] = []
        for account in Self.accounts {
            guard let strategy = account.strategy else { continue }
            let together = try await withdrawals(account.open)
            let apart = try await withdrawals(account.open, everySeconds: 2)
            rows.append(try row(account.version, strategy, together, apart))
        }
        let (together, apart) = (
            try await views(ofPictures: 1, EntryCache.init),
            try await views(ofPictures: 20, everySeconds: 2, EntryCache.init)
        )
        rows.append(try row("image-cache entries", "medium, high", together, apart))
        try expectTable(
            """
            | strategy of the article | its complexity, its throughput | lines of the actor | served in a second, twenty at once \
            | work for each that is served, one after the other |
            """,
            rows
        )
    }

    private func row(_ name: String, _ strategy: String, _ together: Run, _ apart: Run) throws -> String {
        let entry = try #require(Entry.all.first { $0.testDescription == name })
        let served = together.served / together.seconds
        return
            "| `\(name)` | \(strategy) | \(try lines(of: entry.version.code)) | \(served) | \(apart.started / apart.served) |"
    }

    /// How many lines an actor has, without comments and empty lines.
    private func lines(of code: Code) throws -> Int {
        let file = repository.appending(path: "\(Code.folder)/\(code.file)")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .drop { !$0.hasPrefix("actor \(code.name):") }
            .prefix { $0 != "}" }
            .count { !$0.allSatisfy(\.isWhitespace) && !$0.contains("///") } + 1
    }

    @Test func `names versions that are sound, or says in a table of costs what is wrong`() throws {
        let recommendations = try page(Self.path).split(separator: "### What it costs")[0]
        for name in commands(in: String(recommendations)) {
            let entry = try #require(Entry.all.first { $0.testDescription == name }, "\(name)")
            #expect(entry.version.fault == nil, "\(name)")
        }
    }

    /// The page has this table, with these rows and no others.
    private func expectTable(_ header: String, _ rows: [String]) throws {
        let lines = try page(Self.path).split(separator: "\n").map(String.init)
        let table = lines.drop { $0 != header }.dropFirst(2).prefix { $0.hasPrefix("|") }
        #expect(Array(table) == rows, "put these rows below \(header)\n\(rows.joined(separator: "\n"))")
    }

    // MARK: Runs

    private struct Run {
        let started: Int
        let served: Int
        let seconds: Int
    }

    private func run(_ scenario: Scenario) async throws -> Run {
        let replay = await Explorer().replay("0", of: scenario)
        #expect(replay.failure == nil, "\(String(describing: replay.failure))")
        return Run(
            started: replay.trace.effects.count { $0 == "starts" },
            served: replay.trace.effects.count { $0 == "served" },
            seconds: Int(try #require(replay.trace.steps.last).time / .seconds(1))
        )
    }

    /// Twenty callers come, the approval of each takes a second, and ten of them can be served.
    ///
    /// - Parameter pause: seconds between two callers; 0 lets all come at the same moment.
    private func withdrawals(
        _ open: @escaping @Sendable () -> any Account,
        everySeconds pause: Int = 0
    ) async throws -> Run {
        try await run(
            Scenario("twenty withdrawals of 10 from an account of 100") { run in
                let account = open()
                for number in 1...20 {
                    run.operation("\(number)", mayThrow: true) {
                        if pause > 0 { try await run.clock.sleep(for: .seconds(pause * number)) }
                        try await account.withdrawUntilStateIsUnchanged(10) {
                            run.effect("starts")
                            try await run.clock.sleep(for: .seconds(1))
                        }
                        run.effect("served")
                    }
                }
            }
        )
    }

    /// Twenty views come, and each download takes a second.
    ///
    /// - Parameter pause: seconds between two views; 0 lets all come at the same moment.
    private func views(
        ofPictures pictures: Int,
        everySeconds pause: Int = 0,
        _ make: @escaping @Sendable (@escaping Download) -> any Images
    ) async throws -> Run {
        try await run(
            Scenario("twenty views of pictures") { run in
                let cache = make { _ in
                    run.effect("starts")
                    try await run.clock.sleep(for: .seconds(1))
                    return Data()
                }
                for number in 1...20 {
                    run.operation("\(number)", mayThrow: true) {
                        if pause > 0 { try await run.clock.sleep(for: .seconds(pause * number)) }
                        _ = try await cache.image(url: URL(filePath: "/\(number % pictures).png"))
                        run.effect("served")
                    }
                }
            }
        )
    }
}
