import ConsoleSupport
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("Arguments are understood or refused by name", .eightAtATime)
struct GalleryOptionsTests {
    @Test("Without arguments all exhibits are shown; with a name one exhibit, with a version one version")
    func shown() throws {
        guard case .show(let all) = try Options([]).command else {
            Issue.record("nothing is shown")
            return
        }
        #expect(all.map(\.name) == Gallery.exhibits.map(\.name))
        guard case .show(let one) = try Options(["wallet", "--mermaid"]).command else {
            Issue.record("nothing is shown")
            return
        }
        #expect(one.map(\.name) == ["wallet"])
        #expect(try Options(["wallet", "--mermaid"]).isMermaid)
        guard case .show(let version) = try Options(["wallet", "two-calls"]).command else {
            Issue.record("nothing is shown")
            return
        }
        #expect(version.flatMap(\.versions).map(\.name) == ["two-calls"])
    }

    @Test("A schedule follows its option, or an equals sign", arguments: [["--replay", "01"], ["--replay=01"]])
    func replay(option: [String]) throws {
        guard case .replay(let schedule, let version, let exhibit) = try Options(["log", "stream"] + option).command
        else {
            Issue.record("nothing is replayed")
            return
        }
        #expect(schedule == "01")
        #expect(version.name == "stream")
        #expect(exhibit.name == "log")
    }

    @Test(
        "What makes no sense is refused",
        arguments: [
            (["--fast"], .unknown("--fast")),
            (["--mermaid=yes"], .takesNoValue("--mermaid")),
            (["wall"], .unknownExhibit("wall")),
            ([""], .unknownExhibit("")),
            (["rollback", "chain"], .unknownVersion("chain", of: Rollback.exhibit)),
            (["log", "stream", "more"], .tooMany("more")),
            (["log", "stream", "--replay"], .missingValue("--replay")),
            (["log", "stream", "--replay="], .missingValue("--replay")),
            (["log", "stream", "--replay", "0-1"], .noSchedule("0-1")),
            (["--replay", "0"], .replayNeedsVersion),
            (["log", "--replay", "0"], .replayNeedsVersion),
            (["--list", "log"], .standsAlone("--list")),
            (["--help", "--list"], .standsAlone("--list")),
        ] as [([String], UsageError)]
    )
    func refused(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Options(arguments) }
        #expect(!expected.description.isEmpty)
    }

    @Test("The help names every option, the list every exhibit and version, and both fit a terminal")
    func help() throws {
        for option in ["NAME", "VERSION", "--replay SCHEDULE", "--mermaid", "--list", "--help"] {
            #expect(Options.help.contains("  \(option) "))
        }
        for entry in Entry.all {
            #expect(Options.list.contains("\(entry.exhibit.name): \(entry.exhibit.title)"))
            #expect(Options.list.contains("  \(entry.version.name) "))
        }
        for line in "\(Options.help)\n\(Options.list)".split(separator: "\n") {
            #expect(line.count <= 100, "\(line)")
        }
        for arguments in [["--help"], ["-h"]] {
            guard case .help = try Options(arguments).command else {
                Issue.record("no help for \(arguments)")
                return
            }
        }
        guard case .list = try Options(["--list"]).command else {
            Issue.record("no list")
            return
        }
    }
}
