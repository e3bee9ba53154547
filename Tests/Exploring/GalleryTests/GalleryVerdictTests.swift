import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("In the gallery", .eightAtATime, .timeLimit(.minutes(10)))
struct GalleryVerdictTests {
    @Test("a version that is known to be wrong breaks the invariant it is known for", arguments: Entry.breaking)
    func breaks(entry: Entry) async throws {
        let finding = try #require(await entry.finding())
        #expect(finding.isExpected, "\(finding.report)")
        #expect(finding.report.failures >= 1)
    }

    @Test("a fix holds under all schedules, or under the first 60", arguments: Entry.holding)
    func holds(entry: Entry) async throws {
        let finding = try #require(await entry.finding())
        let wasCut = finding.report.schedules + finding.report.redundantRuns >= Entry.limitOfFixes
        #expect(finding.isExpected || finding.report.holds && wasCut, "\(finding.report)")
        // Where callers await one line after the other there is nothing to interleave.
        #expect(finding.report.schedules > 1 || ["log await-each", "log stream"].contains(entry.testDescription))
    }

    @Test("a version whose fault the explorer cannot see holds, and says so", arguments: Entry.unseen)
    func unseen(entry: Entry) async throws {
        let finding = try #require(await entry.finding())
        #expect(finding.isExpected, "\(finding.report)")
        #expect(finding.verdict.contains("data race"))
    }

    @Test("a fix also holds in the first 60 schedules without reductions", arguments: Entry.holding)
    func unreduced(entry: Entry) async {
        var explorer = Explorer()
        explorer.reduces = false
        explorer.maximumSchedules = Entry.limitOfFixes
        let report = await explorer.explore(entry.version.scenario)
        #expect(report.holds, "\(report)")
    }

    @Test("the printed schedule breaks the version again", arguments: Entry.breaking)
    func replay(entry: Entry) async throws {
        let failure = try #require(await entry.finding()?.report.failure)
        let options = try Options([entry.exhibit.name, entry.version.name, "--replay", "\(failure.schedule)"])
        guard case .replay(let schedule, let version, _) = options.command else {
            Issue.record("not a replay: \(options)")
            return
        }
        let replay = await Explorer().replay(schedule, of: version.scenario)
        #expect(replay.failure?.kind == failure.kind)
        #expect(replay.failure?.message == failure.message)
        #expect(replay.trace == failure.trace)
    }

    @Test("a version that is wrong names a sound one that repairs it, if it has one", arguments: Entry.all)
    func repairs(entry: Entry) async throws {
        guard let name = entry.version.repair else {
            #expect(entry.version.isSound, "\(entry.testDescription) is wrong, and says no repair")
            return
        }
        let repair = try #require(Entry.all.first { $0.testDescription == name }, "\(name) is no version")
        #expect(repair.version.breaks == nil, "\(name) breaks itself")
        let report = ExhibitReport(
            exhibit: entry.exhibit,
            findings: [try #require(await entry.finding())],
            drawsAll: false,
            isMermaid: false
        )
        #expect(report.text.contains("repair: \(name)"))
    }

    /// The first schedule under which an article's own final listing breaks.
    @Test(
        "the articles' own listings break under a schedule that is always the same",
        arguments: [
            ("authentication-service version-2", "0000001001"), ("oauth-processor final", "0"),
            ("data-cache coalesce", "0000001"), ("image-cache registry", "0000001"),
            ("access-token-service owner-leaves", "0"), ("bank-account check-then-act", "0"),
            ("wallet write-back", "0"), ("image-cache check-then-download", "0"),
        ]
    )
    func schedules(name: String, schedule: String) async throws {
        let entry = try #require(Entry.all.first { $0.testDescription == name })
        #expect(entry.version.listing != nil)
        let failure = try #require(await entry.finding()?.report.failure)
        #expect("\(failure.schedule)" == schedule)
    }

    @Test("every exhibit has a version that breaks and one that holds, under names of their own")
    func names() {
        #expect(Set(Gallery.exhibits.map(\.name)).count == Gallery.exhibits.count)
        for exhibit in Gallery.exhibits {
            #expect(Set(exhibit.versions.map(\.name)).count == exhibit.versions.count)
            #expect(exhibit.versions.contains { $0.breaks == nil })
            #expect(exhibit.versions.contains { $0.breaks != nil })
            for name in [exhibit.name] + exhibit.versions.map(\.name) {
                #expect(name.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(name)")
            }
            for broken in exhibit.versions.compactMap(\.breaks) {
                #expect(exhibit.invariants.contains(broken) || broken == "lost waiter")
            }
        }
    }

    @Test("every exhibit names the file of its code")
    func files() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        for exhibit in Gallery.exhibits {
            #expect(exhibit.file.hasPrefix("Sources/Exploring/RaceGallery/Exhibits/"))
            let code = try String(contentsOf: root.appending(path: exhibit.file), encoding: .utf8)
            #expect(code.contains("name: \"\(exhibit.name)\""), "\(exhibit.file)")
            #expect(
                ExhibitReport(exhibit: exhibit, findings: [], drawsAll: true, isMermaid: false).text.contains(
                    exhibit.file
                )
            )
        }
    }

    @Test("an unexpected verdict is recognised")
    func surprises() async {
        let (good, bad) = (scenario(holds: true), scenario(holds: false))
        #expect(await Version("a", "", good).explore().isExpected)
        #expect(await !Version("a", "", bad).explore().isExpected)
        let crowd = Scenario("more than a digit can tell apart") { run in
            for number in 1...37 {
                run.operation("\(number)") {}
            }
        }
        #expect(await !Version("a", "", crowd).explore().isExpected, "it holds, but not all was tried")
        #expect(await Version("a", "", breaks: "it", bad).explore().isExpected)
        #expect(await !Version("a", "", breaks: "it", good).explore().isExpected)
        #expect(await !Version("a", "", breaks: "something else", bad).explore().isExpected)
    }

    @Test("the last line has the counts, and the names of unexpected verdicts")
    func summary() async {
        let wrong = Version("wrong", "", scenario(holds: false))
        let right = Version("right", "", scenario(holds: true))
        let exhibit = Exhibit(name: "x", title: "", story: "", invariants: [], versions: [])
        let bad = Summary(findings: [(exhibit, [await wrong.explore(), await right.explore()])])
        #expect(!bad.isGood)
        #expect(bad.text == "1 exhibit, 2 versions, 2 schedules: 1 broken, 1 hold. NOT AS EXPECTED: x wrong.")
        let good = Summary(findings: [(exhibit, [await right.explore()])])
        #expect(good.isGood)
        #expect(good.text.hasSuffix("Every verdict is as expected."))
    }

    @Test("a replay is as expected unless a fix fails or the schedule does not fit")
    func replays() async {
        func report(_ version: Version, _ schedule: Schedule) async -> ReplayReport {
            ReplayReport(
                exhibit: BankAccount.exhibit,
                version: version,
                schedule: schedule,
                replay: await Explorer().replay(schedule, of: version.scenario),
                isMermaid: false
            )
        }
        let bad = scenario(holds: false)
        #expect(await report(Version("a", "", breaks: "it", bad), "0").isExpected)
        #expect(await !report(Version("a", "", bad), "0").isExpected)
        #expect(await report(Version("a", "", scenario(holds: true)), "0").isExpected)
        let misfit = await report(BankAccount.exhibit.versions[0], "9")
        #expect(!misfit.isExpected)
        #expect(misfit.text.contains("swift run race-gallery bank-account check-then-act"), "what does fit")
    }

    private func scenario(holds: Bool) -> Scenario {
        Scenario("one step") { run in
            run.operation("first") {}
            run.invariant("it") { holds }
        }
    }
}
