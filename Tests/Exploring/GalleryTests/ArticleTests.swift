import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import RaceGallery

@Suite("In the articles about the gallery", .eightAtATime, .timeLimit(.minutes(10)))
struct ArticleTests {
    /// Twenty callers come at the same moment, the work of each takes a second, and ten of them can be served.
    private struct Cost {
        var started = 0
        var served = 0
        var seconds = 0.0

        /// As in the article: work started, thrown away, callers served, seconds until the last answer.
        var row: String {
            "| \(started) | \(started - min(started, served)) | \(served) | \(Int(seconds)) |"
        }
    }

    @Test("the costs of a strategy are those of a run")
    func costs() async throws {
        let accounts: [(String, @Sendable (@escaping Approval) -> any Account)] = [
            ("bank-account bounce", { Bounce(approve: $0) }),
            ("bank-account queue-and-await", { QueueAndAwait(approve: $0) }),
            ("bank-account optimistic", { Optimistic(approve: $0) }),
            ("bank-account transaction-log", { TransactionLog(approve: $0) }),
            ("bank-account re-validate", { Revalidate(approve: $0) }),
            ("bank-account compare-and-swap", { CompareAndSwap(approve: $0) }),
            ("bank-account state-changed", { ComparesStates(approve: $0) }),
        ]
        var rows: [String] = []
        for (name, open) in accounts {
            let scenario = withdrawals(open)
            rows.append("| `\(name)` \(try await cost(of: scenario).row)")
        }
        rows.append("| `image-cache in-flight` \(try await cost(of: pictures).row)")
        let article = try article("ChoosingAStrategy")
        for row in rows {
            #expect(article.contains("\(row)\n"), "ChoosingAStrategy.md lacks this row:\n\(row)")
        }
    }

    @Test("every version is in the gallery, and every exhibit is named", arguments: ["Articles", "ChoosingAStrategy"])
    func names(_ name: String) throws {
        var missing = Set(Gallery.exhibits.map(\.name))
        for match in try article(name).matches(of: /`([a-z]+(?:-[a-z]+)*) ([a-z]+(?:-[a-z]+)*)`/) {
            let exhibit = try #require(Gallery.exhibits.first { $0.name == match.1 }, "\(match.1)")
            let version = try #require(exhibit.versions.first { $0.name == match.2 }, "\(match.0)")
            #expect(name != "ChoosingAStrategy" || version.origin == .fix, "\(match.0)")
            missing.remove(exhibit.name)
        }
        #expect(missing.isEmpty || name != "Articles", "no article leads to \(missing.sorted())")
    }

    private func article(_ name: String) throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(
                    path: "../../../Sources/Exploring/InterleavingExplorer/InterleavingExplorer.docc/\(name).md"
                ),
            encoding: .utf8
        )
    }

    private func withdrawals(_ open: @escaping @Sendable (@escaping Approval) -> any Account) -> Scenario {
        Scenario("twenty withdrawals of 10 from an account of 100") { run in
            let account = open {
                run.effect("starts")
                try await run.clock.sleep(for: .seconds(1))
            }
            for number in 1...20 {
                run.operation("\(number)", mayThrow: true) {
                    try await account.withdraw(10)
                    run.effect("served")
                }
            }
        }
    }

    private var pictures: Scenario {
        Scenario("twenty views of one picture") { run in
            let images = Images(.sharesDownload) { _, _ in
                run.effect("starts")
                try? await run.clock.sleep(for: .seconds(1))
            }
            for number in 1...20 {
                run.operation("\(number)") {
                    _ = try await images.image(at: "a.png")
                    run.effect("served")
                }
            }
        }
    }

    private func cost(of scenario: Scenario) async throws -> Cost {
        let replay = await Explorer().replay("0", of: scenario)
        #expect(replay.failure == nil, "\(String(describing: replay.failure))")
        var cost = Cost()
        cost.started = replay.trace.effects.count { $0 == "starts" }
        cost.served = replay.trace.effects.count { $0 == "served" }
        let end = try #require(replay.trace.steps.last).time
        cost.seconds = end / .seconds(1)
        return cost
    }
}
