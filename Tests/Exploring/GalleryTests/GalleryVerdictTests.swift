import Foundation
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("In the gallery", .takesTurnsToExplore, .endsHangs)
struct GalleryVerdictTests {
    @Test(arguments: Entry.all)
    func `a version breaks the invariant it is known for, or holds under the first schedules`(entry: Entry)
        async throws
    {
        let finding = try #require(await entry.finding())
        let wasCut = finding.report.schedules + finding.report.redundantRuns >= Entry.limitOfFixes
        #expect(
            finding.isExpected || entry.version.breaks == nil && finding.report.holds && wasCut,
            "\(finding.report)"
        )
        // Where one task writes one line after the other there is nothing to interleave.
        let hasChoices = finding.report.schedules > 1 || entry.version.breaks != nil
        #expect(hasChoices || entry.testDescription == "log stream")
        #expect(finding.text.contains("fault that the explorer cannot see: ") == (entry.version.unseenFault != nil))
    }

    @Test(arguments: Entry.breaking)
    func `the printed schedule breaks the version again`(entry: Entry) async throws {
        let failure = try #require(await entry.finding()?.report.failure)
        let command = try Command([entry.exhibit.name, entry.version.name, "\(failure.schedule)"])
        guard case .replay(let schedule, let version) = command else {
            Issue.record("not a replay: \(command)")
            return
        }
        var explorer = Explorer()
        explorer.patience = .milliseconds(1)
        let replay = await explorer.replay(schedule, of: version.scenario)
        #expect("\(replay)" == "\(failure)")
        #expect(replay.failure?.schedule == failure.schedule && replay.trace == failure.trace)
    }

    @Test(arguments: Entry.all)
    func `a version that is wrong names one that repairs it`(entry: Entry) throws {
        guard let name = entry.version.repair else { return }
        let repair = try #require(Entry.all.first { $0.testDescription == name }, "\(name) is no version")
        #expect(repair.version.breaks == nil, "\(name) breaks itself")
    }

    @Test(arguments: Entry.all)
    func `the text on a version has its code, its listings, its repair, and the explorer's report`(entry: Entry)
        async throws
    {
        let finding = try #require(await entry.finding())
        #expect(finding.text.contains("code: \(finding.version.code)\n"))
        for listing in finding.version.listings { #expect(finding.text.contains("listing: \(listing.name), in “")) }
        if let repair = finding.version.repair { #expect(finding.text.contains("repair: \(repair)\n")) }
        #expect(finding.text.hasSuffix("\n\(finding.report)"))
        #expect(entry.exhibit.heading.contains("Code: \(Code.folder)"))
    }

    @Test(arguments: Entry.all)
    func `the code of a version is in the file that the report names`(entry: Entry) throws {
        let code = entry.version.code
        let file = repository.appending(path: "\(Code.folder)/\(code.file)")
        let declaration = try Regex("(actor|class|func) \(code.name)\\b")
        #expect(try String(contentsOf: file, encoding: .utf8).contains(declaration), "\(code)")
    }

    /// The first schedule under which an article's own final listing breaks.
    @Test(
        arguments: [
            ("authentication-service version-2", "0000001001"),
            ("authentication-service version-2-no-failure", "0000001001"), ("oauth-processor final", "0"),
            ("image-cache registry", "0000001"),
            ("access-token-service owner-leaves", "0"), ("bank-account check-then-act", "0"),
            ("wallet write-back", "0"), ("image-cache check-then-download", "0"),
        ]
    )
    func `the articles' own listings break under a schedule that is always the same`(name: String, schedule: String)
        async throws
    {
        let entry = try #require(Entry.all.first { $0.testDescription == name })
        #expect(!entry.version.listings.isEmpty)
        let failure = try #require(await entry.finding()?.report.failure)
        #expect("\(failure.schedule)" == schedule)
    }

    @Test func `every exhibit has a version that breaks and one that holds, under names of their own`() {
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
}
