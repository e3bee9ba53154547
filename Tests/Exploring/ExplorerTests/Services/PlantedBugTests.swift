import InterleavingExplorer
import TestSupport
import Testing

@Suite("Bugs that are a matter of order", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct PlantedBugTests {
    private let explorer = Explorer().with(\.patience, .milliseconds(20))

    @Test(arguments: PlantedBug.all)
    func `are found, with a schedule that shows them again`(_ bug: PlantedBug) async throws {
        let scenario = Scenario(bug.scenario, with: bug.subject)
        let report = await explorer.explore(scenario)
        let failure = try #require(report.failure, "\(bug) must be found in “\(bug.scenario)”: \(report)")
        let replay = await explorer.replay(failure.schedule, of: scenario)
        #expect(replay.failure?.message == failure.message)
        #expect(replay.trace == failure.trace)
        if let clause = bug.clause {
            #expect(failure.kind == .brokenInvariant && failure.message.contains(clause), "\(failure)")
        } else {
            #expect(failure.kind == .lostWaiter, "\(failure)")
        }
    }

    @Test(arguments: Set(PlantedBug.all.map(\.scenario.name)).sorted())
    func `are not found where nothing is planted`(_ scenario: String) async {
        let explorer = explorer.with(\.maximumSchedules, 300)
        let report = await explorer.explore(Scenario(.named(scenario), with: PlantedBug.withoutBug))
        #expect(report.holds, "\(report)")
    }
}
