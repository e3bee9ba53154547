import ConsoleSupport
import TestSupport
import Testing

@testable import token_tour

@Suite("The tour's arguments are understood or refused by name", .takesTurns)
struct TourOptionsTests {
    @Test func `Without arguments: five rounds, a hundred callers, every set-up`() throws {
        let options = try Options([])
        #expect(options.rounds == 5)
        #expect(options.callers == 100)
        #expect(options.setUps.map(\.rawValue) == SetUp.allCases.map(\.rawValue))
        #expect(options.limit == nil)
        #expect(!options.isHelp)
    }

    @Test func `Each option is understood, and set-ups that are named run once each, in the tour's order`() throws {
        let options = try Options(["--rounds", "2", "--callers=8", "--processes", "8", "--limit", "1", "-h"])
        #expect(options.rounds == 2)
        #expect(options.callers == 8)
        #expect(options.processes == 8)
        #expect(options.limit == 1)
        #expect(options.setUps.map(\.rawValue) == ["naive-file", "folder"])
        #expect(options.isHelp)
        let chosen = try Options(["--set-up", "both", "--set-up=queue", "--set-up", "both"])
        #expect(chosen.setUps.map(\.rawValue) == ["queue", "both"])
    }

    @Test(
        arguments: [
            (["--fast"], .unknown("--fast")),
            (["--help=yes"], .takesNoValue("--help")),
            (["--rounds", "0"], .notInRange("--rounds", Options.roundLimits)),
            (["--callers", "-3"], .notInRange("--callers", Options.callerLimits)),
            (["--limit", "0"], .notInRange("--limit", Options.requestLimits)),
            (["--set-up", "naive"], Options.unknownSetUp),
            (["--processes", "1"], .notInRange("--processes", Options.processLimits)),
            (["--processes", "8", "--set-up", "queue"], Options.setUpOfOneProcess),
            (["--processes", "8", "--callers", "7"], .notInRange("--callers", 8...400)),
        ] as [([String], UsageError)]
    )
    func `What makes no sense is refused`(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Options(arguments) }
    }

    @Test func `The help names every option and every set-up, and fits a terminal`() {
        let words =
            ["--rounds", "--callers", "--limit", "--set-up", "--processes", "--help"]
            + SetUp.allCases.map(\.rawValue) + ProcessSetUp.allCases.map(\.rawValue)
        for word in words {
            #expect(Options.help.contains("  \(word) "))
        }
        #expect(Options.help.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
