import InterleavingExplorer
import TestSupport
import Testing

@Suite("How far a search is", .takesTurnsToExplore, .endsHangs)
struct ProgressTests {
    @Test func `is told after each run, with the part of the search and the last schedule that was new`() async throws {
        let (report, all) = await BigSearch.outcome.value
        #expect(all.map(\.runs) == Array(1...BigSearch.limit), "\(report)")
        let parts = all.map(\.part).split(between: !=)
        #expect(
            parts.map { [$0.first.map { "\($0.rawValue)" } ?? "", "\($0.count)"] }
                == [
                    ["in order", "1000"], ["at random", "2000"], ["without interruptions", "24"], ["in order", "76"],
                ]
        )
        #expect(all.first?.lastSchedule == "0" && Set(all.map(\.lastSchedule)).count > 1_000)
        #expect(all[3_010].lastSchedule.description.hasPrefix("_"))
        let line = try #require(all.last).description
        let rest = #/ in \d+ s, \d+ a second, in order; the last new schedule is \w+$/#
        #expect(line.hasPrefix("four tasks of three effects: 3100 runs in ") && line.contains(rest), "\(line)")
    }

    @Test func `is told by nobody before it is due`() async {
        var explorer = Explorer().with(\.maximumSchedules, 50)
        explorer.progressInterval = .seconds(1_000_000)
        let heard = Protected(0)
        explorer.onProgress = { _ in _ = heard.next() }
        _ = await explorer.explore(BigSearch.scenario)
        #expect(heard.withLock { $0 } == 0)
    }

    @Test(arguments: [SearchMode.automatic, .random(seed: 1, schedules: 9)])
    func `may be little: a search ends with its time, and says so`(mode: SearchMode) async {
        let report = await Explorer(mode).with(\.maximumDuration, .zero).explore(BigSearch.scenario)
        #expect(report.holds && !report.isComplete && report.schedules == 1, "\(report)")
        #expect(report.description.contains("The search ended after its maximumDuration of 0.0 seconds."), "\(report)")
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        let advice = mode == .automatic ? "raise maximumDuration" : "search in the mode automatic"
        #expect(failure?.message.contains(advice) == true)
    }
}

extension Array where Element: Equatable {
    /// The longest runs of neighbours between which nothing is true.
    fileprivate func split(between areApart: (Element, Element) -> Bool) -> [[Element]] {
        reduce(into: []) { parts, element in
            if let last = parts.last?.last, !areApart(last, element) {
                parts[parts.count - 1].append(element)
            } else {
                parts.append([element])
            }
        }
    }
}
