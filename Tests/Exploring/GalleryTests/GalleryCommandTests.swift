import ConsoleSupport
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("The command", .takesTurnsToExplore)
struct GalleryCommandTests {
    /// The versions that are shown for these arguments.
    private func shown(_ words: [String]) throws -> [String] {
        guard case .show(let exhibits) = try Command(words) else { return [] }
        return exhibits.flatMap { exhibit in exhibit.versions.map { "\(exhibit.name) \($0.name)" } }
    }

    @Test func `shows all exhibits, one of them, or one version`() throws {
        let all = Entry.all.map(\.testDescription)
        #expect(try shown([]) == all)
        #expect(try shown(["wallet"]) == all.filter { $0.hasPrefix("wallet ") })
        #expect(try shown(["wallet", "merge"]) == ["wallet merge"])
    }

    @Test(
        arguments: [
            (["--fast"], .unknown("--fast")),
            (["wall"], .unknownExhibit("wall")),
            ([""], .unknownExhibit("")),
            (["rollback", "chain"], .unknownVersion("chain", of: Rollback.exhibit)),
            (["log", "stream", "0", "more"], .unknown("more")),
            (["log", "stream", "0-1"], .noSchedule("0-1")),
            (["--list", "log"], .standsAlone("--list")),
            (["--help", "--list"], .standsAlone("--help")),
            (["--diagram"], .unknown("--diagram")),
        ] as [([String], UsageError)]
    )
    func `refuses what makes no sense`(_ arguments: [String], _ expected: UsageError) {
        #expect(throws: expected) { try Command(arguments) }
    }

    @Test func `lists every exhibit and version, and the help names every word and option`() throws {
        for word in ["NAME", "VERSION", "SCHEDULE", "--list", "--help"] {
            #expect(Command.usage.contains("  \(word) "))
        }
        for entry in Entry.all {
            #expect(Command.names.contains("\(entry.exhibit.name): \(entry.exhibit.title)"))
            #expect(Command.names.contains("  \(entry.version.name) "))
        }
        for line in "\(Command.usage)\n\(Command.names)".split(separator: "\n") {
            #expect(line.count <= 100, "\(line)")
        }
        for (words, first) in [(["--help"], "usage"), (["-h"], "usage"), (["--list"], Gallery.exhibits[0].name)] {
            let text =
                switch try Command(words) {
                case .help: Command.usage
                case .list: Command.names
                default: ""
                }
            #expect(text.hasPrefix(first))
        }
    }

    @Test(
        arguments: [
            (true, nil, true), (false, nil, false), (false, "it", true), (true, "it", false),
            (false, "something else", false),
        ]
    )
    func `succeeds if each version breaks what it is known for, or holds`(
        holds: Bool,
        breaks: String?,
        isExpected: Bool
    ) async throws {
        let version = version(holds: holds, breaks: breaks)
        #expect(try await RaceGallery.show([exhibit(version)]) == (isExpected ? .good : .failed))
    }

    @Test(arguments: [(36, true), (37, false)])
    func `fails if a version holds, and not all of its schedules were tried`(operations: Int, isExpected: Bool) async {
        let crowd = Scenario("as much as a digit can tell apart, or more") { run in
            for number in 1...operations { run.operation("\(number)") {} }
        }
        #expect(await version(crowd).explore().isExpected == isExpected)
    }

    @Test(
        arguments: [
            (true, nil, "0", true), (false, "it", "0", true), (false, nil, "0", false), (false, "it", "9", false),
        ] as [(Bool, String?, Schedule, Bool)]
    )
    func `fails after a replay if a fix breaks or the schedule does not fit`(
        holds: Bool,
        breaks: String?,
        schedule: Schedule,
        isExpected: Bool
    ) async throws {
        let version = version(holds: holds, breaks: breaks)
        let status = try await RaceGallery.run(.replay(schedule, of: version))
        #expect(status == (isExpected ? .good : .failed))
    }

    private func exhibit(_ version: Version) -> Exhibit {
        Exhibit(name: "x", title: "", story: "", invariants: [], versions: [version])
    }

    private func version(holds: Bool, breaks: String?) -> Version {
        let scenario = Scenario("one step") { run in
            run.operation("first") {}
            run.invariant("it") { holds }
        }
        return self.version(scenario, breaks.map { .breaks($0, repair: "") })
    }

    private func version(_ scenario: Scenario, _ fault: Fault? = nil) -> Version {
        Version(name: "version", summary: "", code: Code("", in: ""), fault: fault, scenario: scenario)
    }
}
