import InterleavingExplorer
import TestSupport
import Testing

@Suite("A trace", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct TraceTests {
    @Test("tells two actors of a type apart, and names them the same way every time")
    func actors() async {
        let scenario = Scenario("a cell, and another") { run in
            let (cell, other, counter) = (Cell(), Cell(), Counter())
            run.operation("first") {
                _ = await other.add("1")
                _ = await cell.add("2")
                await counter.increment()
                _ = await other.add("3")
            }
        }
        for _ in 1...3 {
            let replay = await Explorer().replay("0", of: scenario)
            #expect(
                // An optimized task goes from actor to actor.
                replay.description.replacing("continues; ", with: "") == """
                     1  first  starts; Cell runs
                     2  first  Cell 2 runs
                     3  first  Counter runs
                     4  first  Cell runs
                     5  first  ends
                    """
            )
        }
    }

    @Test("names a task that the scenario has started by the step that did it")
    func causes() async {
        let scenario = Scenario("steps") { run in
            let cell = Cell()
            run.operation("first") { try await run.clock.sleep(for: .seconds(2)) }
            run.step("user taps") { Task { await cell.add("a") } }
            run.clock.schedule(after: .seconds(1), "alarm") { Task { await cell.add("b") } }
            run.queue("queue").async("works") { Task { await cell.add("c") } }
        }
        let names = await Explorer().replay("0", of: scenario).trace.steps.map(\.participant)
        #expect(names.contains("scenario: user taps/1"), "\(names)")
        #expect(names.contains("clock: alarm/1"), "\(names)")
        #expect(names.contains("queue/1"), "a queue does one thing only: \(names)")
    }

    @Test("numbers the tasks of an operation, and tells an actor from a former one in the same place")
    func numbers() async {
        // As large as a cell: the heap gives it the place of the one that went.
        actor Twin {
            var text = ""
            func add(_ more: String) { text += more }
        }
        let scenario = Scenario("two tasks, two actors") { run in
            run.operation("first") {
                await Task(executorPreference: run.executor) { _ = await Cell().add("1") }.value
                await Task(executorPreference: run.executor) { for _ in 1...20 { await Twin().add("2") } }.value
            }
        }
        let trace = await Explorer().replay("0", of: scenario).trace
        #expect(Set(trace.steps.map(\.participant)) == ["first", "first/1", "first/2"])
        #expect(trace.description.contains("Cell runs") && trace.description.contains("Twin runs"))
    }

    @Test(
        "of a failure says how to tell the methods of an actor apart, where the trace does not",
        arguments: [false, true]
    )
    func advice(notes: Bool) async throws {
        let report = await explore("many calls") { run in
            let counter = Counter()
            run.operation("first") {
                for number in 1...11 {
                    if notes { run.note("call \(number)") }
                    await counter.increment()
                }
            }
            run.invariant("no call is made") { await counter.value == 0 }
        }
        let failure = try #require(report.failure, "\(report)")
        let advice = "To see which method of Counter runs, begin each with: ScenarioRun.current?.note("
        #expect("\(failure)".contains(advice) == !notes, "\(failure)")
    }
}
