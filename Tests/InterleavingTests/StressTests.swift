import Testing

/// What a stress test would have found of the same bugs in the same scenarios, in a thousand runs of each.
///
/// The figures are printed, for they differ from machine to machine; that they are not a thousand is the reason why
/// there is an explorer.
@Suite("A stress test", .serialized)
struct StressTests {
    static let runs = 1000

    @Test(arguments: PlantedBug.all)
    func `misses some of the bugs`(_ bug: PlantedBug) async {
        let hits = await hits(bug.scenario, with: bug.subject)
        print("stress: \(bug) | \(bug.scenario) | \(Self.runs - hits) of \(Self.runs) runs missed it")
    }

    @Test(arguments: Set(PlantedBug.small.map(\.scenario.name)).sorted())
    func `finds nothing where nothing is planted`(_ scenario: String) async {
        let hits = await hits(.named(scenario), with: PlantedBug.withoutBug, runs: 100)
        #expect(hits == 0)
    }

    private func hits(_ scenario: ContractScenario, with subject: Subject, runs: Int = runs) async -> Int {
        var hits = 0
        for _ in 1...runs {
            let stage = StressStage()
            let play = Play(scenario, with: subject, on: stage)
            play.begin()
            await stage.settle { play.history.brokenRule == nil }
            if play.history.brokenRule != nil { hits += 1 }
        }
        return hits
    }
}
