import AccessTokenAdapters
import InterleavingExplorer
import Testing

/// What two right services do is never a difference, however it falls; and the callers get what the contract promises.
@Suite("A trial of two right services, under every interleaving", .serialized, .timeLimit(.minutes(2)))
struct TrialTests {
    private static let small = [
        "two callers", "two callers and an error", "a rejection", "sign-out during a load",
        "sign-out, and asking again", "sign-in during a load", "a caller that is cancelled",
    ]

    private static let big = [
        "a session, and the next", "sign-out beside an error", "two callers, one of them cancelled",
        "an error, and two who ask again", "a rejection beside a caller", "two who reject the same and ask again",
        "sign-out beside a rejection",
    ]

    private static let behind = [
        ContractScenario(
            "a load behind",
            [],
            [.ask, .rest, .ask, .ask],
            loads: [.token],
            hasDeadline: true,
            refreshesAhead: true
        ),
        ContractScenario(
            "a load behind that is silent, and the next",
            [],
            [.ask, .rest, .ask, .ask],
            loads: [.token, .silence, .token],
            hasDeadline: true,
            refreshesAhead: true
        ),
        ContractScenario(
            "a load behind that fails, and a rejection",
            [],
            [.ask, .rest, .ask, .reject, .ask],
            loads: [.token, .failure, .token],
            hasDeadline: true,
            refreshesAhead: true
        ),
    ]

    @Test(arguments: small)
    func `reports nothing of services that decide in their calls`(_ name: String) async {
        await expectNothing(of: ExploredTrial(serving: .app(), shadow: .app()), in: name, .exhaustive)
    }

    @Test(
        arguments: [
            ExploredTrial(serving: .queue, shadow: .app()), ExploredTrial(serving: .app(), shadow: .queue),
        ],
        ["two callers", "sign-out during a load", "sign-in during a load", "a caller that is cancelled"]
    )
    func `reports nothing of a service with queues beside one`(
        _ trial: ExploredTrial,
        _ name: String
    ) async {
        await expectNothing(of: trial, in: name, .bounded(departures: 2))
    }

    /// These have more schedules than can be tried: those with at most one departure from first-in-first-out order.
    @Test(
        arguments: [
            ExploredTrial(serving: .queue, shadow: .actor), ExploredTrial(serving: .actor, shadow: .queue),
            ExploredTrial(serving: .app(), shadow: .actor), ExploredTrial(serving: .actor, shadow: .app()),
        ],
        small + big
    )
    func `reports nothing near to the usual order`(_ trial: ExploredTrial, _ name: String) async {
        await expectNothing(of: trial, in: name, .bounded(departures: 1))
    }

    /// A load behind that is given up, or answers after all: while nobody waits for it, that can be seen by nobody.
    @Test(
        arguments: [
            ExploredTrial(serving: .queue, shadow: .actor), ExploredTrial(serving: .actor, shadow: .queue),
        ],
        behind
    )
    func `reports nothing of loads behind`(_ trial: ExploredTrial, _ scenario: ContractScenario) async {
        await expectNothing(of: trial, in: scenario, .bounded(departures: 2), isContract: false)
    }

    private func expectNothing(
        of trial: ExploredTrial,
        in name: String,
        _ mode: SearchMode
    ) async {
        await expectNothing(of: trial, in: .named(name), mode)
    }

    /// - Parameter isContract: whether the rules know of all that the scenario has, so that its history is judged too.
    private func expectNothing(
        of trial: ExploredTrial,
        in name: ContractScenario,
        _ mode: SearchMode,
        isContract: Bool = true
    ) async {
        let scenario = trial.scenario(name) { outcome in
            if isContract, let broken = outcome.history.brokenRule { throw broken }
            guard outcome.differences.isEmpty, outcome.endsAlike || !isContract else {
                let end = outcome.endsAlike ? "alike" : "apart"
                throw UnexpectedOutcome(description: "\(outcome.differences), \(end) in the end\n\(outcome.history)")
            }
        }
        let report = await Explorer(mode).explore(scenario)
        print("trial: \(trial) | \(name) | \(report.tally)")
        #expect(report.holds, "\(report)")
        if case .exhaustive = mode { #expect(report.isComplete, "\(report)") }
    }
}
