import InterleavingExplorer
import Testing

@Suite("The search", .serialized)
struct SearchTests {
    private actor Account {
        var balance = 100
        func withdraw(_ amount: Int, _ pause: () async -> Void) async {
            guard balance >= amount else { return }
            await pause()
            balance -= amount
        }
    }

    @Test("probe")
    func probe() async throws {
        let scenario = Scenario("two withdrawals") { run in
            let account = Account()
            run.operation("Ann") { await account.withdraw(80) { await run.pause("audit") } }
            run.operation("Bob") { await account.withdraw(80) { await Task.yield() } }
            run.invariant("no overdraft") { await account.balance >= 0 }
        }
        var e = Explorer()
        let report = await e.explore(scenario)
        print(report)
        print(report.failure?.trace.mermaid ?? "")
        e.stopsAtFirstFailure = false
        print(await e.explore(scenario))
        e.reductions = .none
        print(await e.explore(scenario))
        e.mode = .random(seed: 3, schedules: 100)
        print(await e.explore(scenario))
    }
}
