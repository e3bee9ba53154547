import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// How many times as many schedules are tried, set by `.ci/deep interleavings`; `nil` for `swift test`, which tries
/// few.
///
/// All planted bugs that are a matter of order appear by the 20th schedule of their scenario.
let effort = ProcessInfo.processInfo.environment["EXPLORER_EFFORT"].flatMap { Int($0) }

@Suite("The contract under every interleaving", .takesTurnsToExplore, .timeLimit(.minutes(effort == nil ? 60 : 120)))
struct EveryInterleavingTests {
    private static let clauses: Set = [
        "S1", "S2", "S3", "F1", "F2", "I1", "I2", "I3", "O1", "O2", "O3", "X1", "X2", "X3", "D1", "D2", "D5",
        "D6", "T1", "T2",
    ]

    /// The smallest scenarios that have every clause between them.
    private static let smallest = [
        "two callers", "two callers and an error", "an error, and asking again", "a caller that is cancelled",
        "a rejection beside a caller", "two who reject the same", "sign-out during a load",
        "sign-out, and asking again", "sign-in during a load", "a deadline", "the last reference goes",
    ].map(ContractScenario.named)

    /// What adapters, listeners and other queues can get wrong: `.ci/deep interleavings` has all scenarios for them.
    private static let aroundServices = [
        "a caller that is cancelled", "sign-out, and asking again", "sign-in during a load", "a deadline",
    ].map(ContractScenario.named)

    private static let fewSchedules = 20

    @Test(arguments: Subject.own)
    func `is kept by`(_ subject: Subject) async {
        let isPlain = [Subject.actor.name, Subject.queue.name].contains(subject.name)
        let limit = effort.map { $0 * (isPlain ? 600 : 60) } ?? Self.fewSchedules
        let scenarios = effort == nil ? (isPlain ? Self.smallest : Self.aroundServices) : ContractScenario.all
        for scenario in scenarios {
            _ = await explore(scenario, with: subject, preempting: false, atMost: limit)
        }
    }

    /// The largest is a sign-out and a call of the actor, with 23,354 runs.
    @Test(.enabled(if: effort != nil, "for .ci/deep interleavings"), arguments: [Subject.actor, .queue])
    func `is kept under all schedules of a scenario for each clause by`(_ subject: Subject) async {
        for scenario in Self.smallest {
            let report = await explore(scenario, with: subject, preempting: false, atMost: 50_000)
            #expect(report.isComplete, "\(report)")
        }
    }

    @Test(arguments: effort == nil ? [Subject.actor, .queue] : Subject.own)
    func `is kept, also where steps are held in their middle, by`(_ subject: Subject) async {
        for scenario in effort == nil ? Self.smallest : ContractScenario.all {
            _ = await explore(scenario, with: subject, atMost: effort.map { 15 * $0 } ?? Self.fewSchedules)
        }
    }

    @Test(arguments: [Subject.actor, .queue])
    func `is kept, also where answers are effects, and a sign-out comes to a load whose deadline passes, by`(
        _ subject: Subject
    ) async {
        let names = [
            "two callers", "a rejection beside a caller", "sign-out during a load", "a session, and the next",
            "sign-in during a load",
        ]
        for var scenario in names.map(ContractScenario.named) {
            scenario.marksAnswers = true
            _ = await explore(scenario, with: subject, atMost: effort == nil ? Self.fewSchedules : 400)
        }
        // The deadline can pass while the load begins; an end that is noted before the beginning is no end.
        _ = await explore(.named("sign-out during a silent load"), with: subject, atMost: effort == nil ? 50 : 500)
    }

    private func explore(
        _ scenario: ContractScenario,
        with subject: Subject,
        preempting preempts: Bool = true,
        atMost limit: Int
    ) async -> ExplorationReport {
        let explorer = Explorer().with(\.preempts, preempts).with(\.maximumSchedules, limit)
        let report = await explorer.explore(Scenario(scenario, with: subject))
        #expect(report.holds, "\(report)")
        let isCut = report.schedules + report.redundantRuns >= limit
        // The services give their queues work while they have their lock, where no step can be held.
        let meetsLock = preempts && report.omissions == [.heldLocks]
        #expect(report.isComplete || isCut || meetsLock, "\(report)")
        // A single caller of a service on one queue may have no choice.
        #expect(report.schedules > 1 || scenario.parts.count == 1, "\(report)")
        return report
    }

    @Test func `has a scenario for every clause that depends on it`() {
        #expect(Set(ContractScenario.all.flatMap(\.clauses)) == Self.clauses)
        #expect(Set(Self.smallest.flatMap(\.clauses)) == Self.clauses)
    }
}
