import InterleavingExplorer
import TestSupport
import Testing

@Suite("The contract under every interleaving", .eightAtATime, .timeLimit(.minutes(effort == nil ? 10 : 120)))
struct EveryInterleavingTests {
    private static let clauses: Set = [
        "S1", "S2", "S3", "F1", "F2", "I1", "I2", "I3", "O1", "O2", "O3", "X1", "X2", "X3", "D1", "D2", "D5",
        "D6", "T1", "T2",
    ]

    @Test(arguments: Subject.own)
    func `is kept by`(_ subject: Subject) async {
        var exhausted: [ContractScenario] = []
        let isPlain = [Subject.actor.name, Subject.queue.name].contains(subject.name)
        for scenario in ContractScenario.all {
            var explorer = Explorer()
            explorer.preempts = false
            // Each call of the actor is a hop, and so a choice more.
            let plainSchedules = subject.name == Subject.actor.name ? 3_000 : 600
            explorer.maximumSchedules = effort.map { $0 * (isPlain ? plainSchedules : 60) } ?? (isPlain ? 60 : 20)
            if await explore(scenario, with: subject, by: explorer).isComplete { exhausted.append(scenario) }
        }
        print("exhausted: \(subject) | \(exhausted.count) of \(ContractScenario.all.count)")
        if let effort, isPlain || effort >= 200 {
            #expect(clauses(of: exhausted) == Self.clauses, "each clause has a scenario that is exhausted")
        }
    }

    /// There are more schedules then, so that fewer scenarios can be exhausted.
    @Test(arguments: effort == nil ? [Subject.actor, .queue] : Subject.own)
    func `is kept, also where steps are held in their middle, by`(_ subject: Subject) async {
        var exhausted = 0
        for scenario in ContractScenario.all {
            var explorer = Explorer()
            explorer.maximumSchedules = 15 * (effort ?? 1)
            if await explore(scenario, with: subject, by: explorer).isComplete { exhausted += 1 }
        }
        print("exhausted, with preemption: \(subject) | \(exhausted) of \(ContractScenario.all.count)")
    }

    /// The deadline can pass while the load begins; an end that is noted before the beginning is no end.
    @Test(arguments: [Subject.actor, .queue])
    func `is kept where a sign-out comes to a load whose deadline passes, by`(
        _ subject: Subject
    ) async throws {
        let scenario = try #require(ContractScenario.all.first { "\($0)" == "sign-out during a silent load" })
        var explorer = Explorer()
        explorer.maximumSchedules = 500
        _ = await explore(scenario, with: subject, by: explorer)
    }

    private func explore(
        _ scenario: ContractScenario,
        with subject: Subject,
        by explorer: Explorer
    ) async -> ExplorationReport {
        let report = await explorer.explore(Scenario(scenario, with: subject))
        #expect(report.holds, "\(report)")
        let isCut = report.schedules + report.redundantRuns >= explorer.maximumSchedules
        // The services give their queues work while they have their lock, where no step can be held.
        let meetsLock = explorer.preempts && report.omission?.contains("has a lock") == true
        #expect(report.isComplete || isCut || meetsLock, "\(report)")
        // A single caller of a service on one queue may have no choice.
        #expect(report.schedules > 1 || scenario.parts.count == 1, "\(report)")
        return report
    }

    @Test func `has a scenario for every clause that depends on it`() {
        #expect(clauses(of: ContractScenario.all) == Self.clauses)
    }

    private func clauses(of scenarios: [ContractScenario]) -> Set<String> {
        Set(scenarios.flatMap(\.clauses))
    }
}
