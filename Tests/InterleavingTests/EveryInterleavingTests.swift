import InterleavingExplorer
import Testing

@Suite("The contract under every interleaving")
struct EveryInterleavingTests {
    private static let clauses: Set = [
        "S1", "S2", "S3", "F1", "F2", "I1", "I2", "I3", "O1", "O2", "O3", "X1", "X2", "X3", "D1", "D2", "D5",
        "D6", "T1", "T2",
    ]

    @Test(arguments: Subject.own)
    func `is kept by`(_ subject: Subject) async {
        for scenario in ContractScenario.all {
            let explorer = Explorer(subject.mode(for: scenario))
            let report = await explorer.explore(Scenario(scenario, with: subject))
            print("\(subject) | \(scenario) | \(scenario.clauses.joined(separator: " ")) | \(report.tally)")
            guard report.holds else {
                Issue.record("\(report)")
                continue
            }
            // Whoever is alone with a service on one queue may have no choice.
            #expect(report.schedules > 1 || scenario.parts.count == 1, "\(report)")
            if case .exhaustive = report.mode {
                #expect(report.isComplete, "\(report)")
            } else {
                #expect(report.schedules < explorer.maximumSchedules, "the bound is all that ends it: \(report)")
            }
        }
    }

    @Test func `has a scenario for every clause that depends on it`() {
        #expect(clauses(of: ContractScenario.all) == Self.clauses)
    }

    /// Where a scenario has too many schedules, a smaller one has its clauses.
    @Test(arguments: Subject.own.filter { $0.name != Subject.queueOfDispatch.name })
    func `exhausts a scenario for every such clause on`(_ subject: Subject) {
        let exhausted = ContractScenario.all.filter { scenario in
            guard case .exhaustive = subject.mode(for: scenario) else { return false }
            return true
        }
        #expect(clauses(of: exhausted) == Self.clauses)
    }

    /// Not a proof of anything: whoever reads the figures is to read this beside them.
    @Test func `is not explored everywhere`() {
        for (name, reason) in Subject.outOfReach {
            print("not explored: \(name), because \(reason)")
        }
    }

    private func clauses(of scenarios: [ContractScenario]) -> Set<String> {
        Set(scenarios.flatMap(\.clauses))
    }
}

extension ExplorationReport {
    /// The number of schedules, and whether these were all.
    var tally: String {
        isComplete ? "all \(schedules) schedules" : "\(schedules) schedules, \(mode)"
    }
}
