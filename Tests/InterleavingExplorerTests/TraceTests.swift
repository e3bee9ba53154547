import InterleavingExplorer
import Testing

@Suite("A trace", .serialized)
struct TraceTests {
    private var scenario: Scenario {
        Scenario("a shared load") { run in
            let loads = Loads(.loadClears, executor: run.executor) {
                run.note("asks; the #1 server")
                await run.pause("server answers")
            }
            run.operation("first") { await loads.token() }
            run.operation("second") { await loads.token() }
        }
    }

    @Test("tells by name what ran, who woke whom, and what was not in order")
    func text() async {
        let replay = await Explorer().replay("01", of: scenario)
        #expect(replay.failure == nil)
        #expect(replay.trace.participants.contains("first/1"), "the task that the first operation started")
        #expect(replay.trace.steps.contains { $0.isDeparture })
        print(replay.trace)
        print(replay.trace.mermaid)
    }
}
