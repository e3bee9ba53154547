import AccessTokenAdapters
import InterleavingExplorer
import TestSupport
import Testing

/// What a `DispatchQueue` runs, which no test can hold, runs when it likes.
@Suite("Behind a private queue", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct PrivateQueueTests {
    private static let foreign = Subject("the actor with a loader on a private queue") { surroundings in
        let service = AsyncAccessTokenService(
            loader: AsyncLoaderAdapter(of: surroundings.loader),
            policy: surroundings.policy,
            clock: surroundings.clock,
            executor: surroundings.stage.executor
        )
        return Subject.Service(provider: .async(service))
    }

    /// A deadline may pass before the loader's queue has run at all, and every caller has an answer in the end.
    @Test(arguments: ["two callers", "a deadline", "a deadline for two", "cancellation, answer and deadline"])
    func `the contract is not explored, and that is always reported`(_ name: String) async {
        var explorer = Explorer()
        // Ends with the first sign of the escape.
        explorer.patience = .seconds(10)
        for round in 1...10 {
            var scenario = ContractScenario.named(name)
            scenario.loads = [.token]
            let report = await explorer.explore(Scenario(scenario, with: Self.foreign))
            #expect(report.failure?.kind == .escape, "round \(round): \(report)")
        }
    }
}
