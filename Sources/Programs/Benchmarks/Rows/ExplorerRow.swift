import AccessTokenAsync
import InterleavingExplorer

/// How fast the explorer goes through the schedules of three callers of the actor.
enum ExplorerRow {
    static func comparison(isQuick: Bool) -> Comparison {
        let name = "schedules of three callers"
        return Comparison(
            row: "k",
            title: "explorer",
            rounds: isQuick ? 3 : 5,
            contenders: [true, false].map { preempts in
                Contender(preempts ? name : "without preemption points") {
                    var explorer = Explorer()
                    explorer.preempts = preempts
                    let watch = Stopwatch()
                    let report = await explorer.explore(threeCallers)
                    let sample = watch.sample(per: report.schedules)
                    precondition(report.holds && report.isComplete, "\(report)")
                    // Each search adds some runs that it does not count. With few schedules, these runs would be measured.
                    precondition(report.schedules > 100, "The callers are not in each other's way: \(report)")
                    return sample
                }
            },
            goals: [.rate(of: name, atLeast: 5_000), .rate(of: "without preemption points", atLeast: 5_000)]
        )
    }

    private static let threeCallers = Scenario("three callers") { run in
        let service = AsyncAccessTokenService(
            loader: PausingLoader(run: run),
            policy: AccessTokenPolicy(loadDeadline: nil),
            executor: run.executor
        )
        for number in 1...3 {
            run.operation("caller \(number)") {
                // The explorer does not see the state behind the service's lock, so it is marked.
                run.effect("asks")
                _ = try? await service.token()
                run.effect("is answered")
            }
        }
    }

    private struct PausingLoader: AsyncAccessTokenLoader {
        let run: ScenarioRun

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            await run.pause("answer")
            return .valid
        }
    }
}
