import Testing

@testable import token_tour

@Suite("Arguments are understood or refused by name")
struct OptionsTests {
    @Test("Without arguments: five rounds, a hundred callers, every set-up")
    func defaults() throws {
        let options = try Options([])
        #expect(options.rounds == 5)
        #expect(options.callers == 100)
        #expect(options.setUps == SetUpName.allCases)
        #expect(!options.isMermaid)
        #expect(!options.isHelp)
    }

    @Test("Values follow their option, or an equals sign")
    func values() throws {
        for arguments in [["--rounds", "2", "--callers", "7"], ["--rounds=2", "--callers=7"]] {
            let options = try Options(arguments)
            #expect(options.rounds == 2)
            #expect(options.callers == 7)
        }
        #expect(try Options(["--mermaid"]).isMermaid)
        #expect(try Options(["--help"]).isHelp)
        #expect(try Options(["-h"]).isHelp)
    }

    @Test("Set-ups that are named run once each, in the tour's order")
    func setUps() throws {
        let options = try Options(["--set-up", "both", "--set-up=queue", "--set-up", "both"])
        #expect(options.setUps == [.queue, .both])
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            (["--fast"], .unknown("--fast")),
            (["5"], .noOption(position: 1)),
            (["--rounds", "5", ""], .noOption(position: 3)),
            (["--mermaid=yes"], .unknown("--mermaid")),
            (["--rounds"], .missingValue("--rounds")),
            (["--set-up"], .missingValue("--set-up")),
            (["--rounds", "0"], .badNumber("--rounds", Options.roundLimits)),
            (["--rounds="], .missingValue("--rounds")),
            (["--rounds", "five"], .badNumber("--rounds", Options.roundLimits)),
            (["--callers", "-3"], .badNumber("--callers", Options.callerLimits)),
            (["--callers", "99999999999999999999"], .badNumber("--callers", Options.callerLimits)),
            (["--set-up", "naive"], .unknownSetUp),
        ] as [([String], UsageError)]
    )
    func refused(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Options(arguments) }
        #expect(!expected.description.isEmpty)
    }

    @Test("The help names every option and every set-up, and fits a terminal")
    func help() {
        let words =
            ["--rounds", "--callers", "--set-up", "--mermaid", "--help", "--print-refresh-token"]
            + ServerOptions.Name.allCases.map(\.rawValue)
        for word in words + SetUpName.allCases.map(\.rawValue) {
            #expect(Help.text.contains("  \(word) "))
        }
        #expect(Help.text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
