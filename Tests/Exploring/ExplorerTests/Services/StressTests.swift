import TestSupport
import Testing

/// The same services, scenarios and rules on real threads: the rules must not object to a sound service there either.
@Suite("A stress test", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct StressTests {
    @Test(arguments: Set(PlantedBug.small.map(\.scenario.name)).sorted())
    func `finds nothing where nothing is planted`(_ scenario: String) async {
        let hits = await hits(.named(scenario), with: PlantedBug.withoutBug, runs: 100)
        #expect(hits.isEmpty, "\(hits.count) of 100, such as \(hits.first ?? "")")
    }

    private func hits(_ scenario: ContractScenario, with subject: Subject, runs: Int) async -> [String] {
        var hits: [String] = []
        for _ in 1...runs {
            let stage = StressStage()
            let play = Play(scenario, with: subject, on: stage)
            play.begin()
            await stage.settle { play.hasEnded }
            if let broken = play.history.brokenRule { hits.append("\(broken)") }
        }
        return hits
    }
}
