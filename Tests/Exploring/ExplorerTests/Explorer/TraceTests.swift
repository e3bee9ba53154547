import InterleavingExplorer
import TestSupport
import Testing

@Suite("A trace", .takesTurnsToExplore, .serialized, .endsHangs)
struct TraceTests {
    @Test func `tells two actors of a type apart, and names them the same way every time`() async {
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

    @Test
    func `names those for whom an actor runs, says that nobody has woken who leaves an actor, and gives the times`()
        async
    {
        let scenario = Scenario("two callers of one actor") { run in
            let cell = Cell()
            for name in ["first", "second"] {
                run.operation(name) {
                    _ = await cell.add(name)
                    run.note("is back")
                }
            }
            run.operation("sleeper") {
                run.clock.schedule(after: .seconds(1), "alarm") {}
                try await run.clock.sleep(for: .milliseconds(300))
            }
        }
        let explorer = Explorer().with(\.reduces, false)
        let text = await explorer.replay("+1", of: scenario).description
        #expect(text.contains("first    Cell runs for first, second\n"), "\(text)")
        #expect(!text.contains("wakes first") && !text.contains("wakes second"), "\(text)")
        #expect(text.contains("sets “alarm” for 1.0 seconds; sleeps until 0.3 seconds"), "\(text)")
        #expect(text.contains("clock    sleep ends at 0.3 seconds; wakes sleeper"), "\(text)")
    }

    @Test func `names a task that the scenario has started by the step that did it`() async {
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

    @Test func `numbers the tasks of an operation, and tells an actor from a former one in the same place`() async {
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

    @Test func `is drawn with a lane for each task, an arrow for each start and wake, and the failure below`()
        async throws
    {
        let scenario = Scenario("two and a task") { run in
            run.operation("first; one") {
                run.note("a <b> #1")
                await Task(executorPreference: run.executor) { run.effect("works") }.value
            }
            run.operation("second") { await run.pause("an answer") }
            run.invariant("nothing works") { run.effects.isEmpty }
        }
        let failure = try #require(await Explorer().explore(scenario).failure)
        #expect(
            failure.diagram == """
                sequenceDiagram
                    participant p1 as first#59; one
                    participant p2 as first#59; one/1
                    participant p3 as second
                    participant p4 as scenario
                    Note over p1: 1 starts<br/>“a #60;b#62; #35;1”
                    p1->>p2: starts
                    Note over p3: 2 starts
                    Note over p2: 3 starts<br/>“works” (effect)
                    p2->>p1: wakes
                    Note over p4: 4 an answer
                    p4->>p3: wakes
                    Note over p3: ends
                    Note over p1: 5 continues<br/>ends
                    Note over p1,p4: broken invariant: “nothing works” does not hold
                """
        )
        #expect(failure.diagram.hasPrefix(failure.trace.diagram))
        #expect(await Explorer().explore(Scenario("idle") { $0.operation("first") {} }).diagram == nil)
    }

    @Test(arguments: [false, true])
    func `of a failure says how to tell the methods of an actor apart, where the trace does not`(notes: Bool)
        async throws
    {
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
        let advice = "To see which method of Counter runs, begin each with: ScheduledRun.current?.note("
        #expect("\(failure)".contains(advice) == !notes, "\(failure)")
    }
}
