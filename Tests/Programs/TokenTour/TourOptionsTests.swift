import ConsoleSupport
import TestSupport
import Testing

@testable import TokenTour

@Suite("Arguments are understood or refused by name", .eightAtATime)
struct TourOptionsTests {
    @Test("Without arguments: five rounds, a hundred callers, every set-up")
    func defaults() throws {
        let options = try Options([])
        #expect(options.rounds == 5)
        #expect(options.callers == 100)
        #expect(options.setUps == SetUp.allCases)
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
        #expect(try Options(["--processes", "8"]).processes == 8)
        #expect(try Options(["--mermaid"]).isMermaid)
        #expect(try Options(["--help"]).isHelp)
        #expect(try Options(["-h"]).isHelp)
    }

    #if Postgres
    @Test("A database goes with processes only, and adds a set-up")
    func postgres() throws {
        let options = try Options(["--processes", "8", "--postgres", "host=db"])
        #expect(options.postgres == "host=db")
        #expect(throws: Options.postgresOfOneProcess) { try Options(["--postgres", "host=db"]) }
        #expect(ProcessSetUp.all(withPostgres: true) == [.naiveFile, .folder, .postgres])
        #expect(ProcessSetUp.all(withPostgres: false) == [.naiveFile, .folder])
    }
    #else
    @Test("Without its package trait a database is refused, and the error names the trait")
    func withoutTrait() {
        let error = #expect(throws: UsageError.self) { try Options(["--processes", "8", "--postgres", "host=db"]) }
        #expect(error == Options.withoutTrait)
        #expect(error?.description.contains("--traits Postgres") == true)
    }
    #endif

    @Test("Set-ups that are named run once each, in the tour's order")
    func setUps() throws {
        let options = try Options(["--set-up", "both", "--set-up=queue", "--set-up", "both"])
        #expect(options.setUps == [.queue, .both])
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            (["--fast"], .unknown("--fast")),
            (["5"], .unknown("5")),
            (["--rounds", "5", ""], .unknown("")),
            (["--mermaid=yes"], .takesNoValue("--mermaid")),
            (["--server", "https://as.example"], .unknown("--server")),
            (["--rounds"], .missingValue("--rounds")),
            (["--set-up"], .missingValue("--set-up")),
            (["--rounds", "0"], .notInRange("--rounds", Options.roundLimits)),
            (["--callers", "-3"], .notInRange("--callers", Options.callerLimits)),
            (["--set-up", "naive"], Options.unknownSetUp),
            (["--processes", "1"], .notInRange("--processes", Options.processLimits)),
            (["--processes", "8", "--set-up", "queue"], Options.setUpOfOneProcess),
            (["--processes", "8", "--callers", "7"], .notInRange("--callers", 8...400)),
        ] as [([String], UsageError)]
    )
    func refused(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Options(arguments) }
        #expect(!expected.description.isEmpty)
    }

    @Test("The help names every option and every set-up, and fits a terminal")
    func help() {
        let words =
            ["--rounds", "--callers", "--set-up", "--processes", "--postgres", "--mermaid", "--help"]
            + SetUp.allCases.map(\.rawValue) + ProcessSetUp.allCases.map(\.rawValue)
        for word in words {
            #expect(Options.help.contains("  \(word) "))
        }
        #expect(Options.help.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
