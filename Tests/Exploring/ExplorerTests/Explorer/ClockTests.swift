import InterleavingExplorer
import TestSupport
import Testing

@Suite("Virtual time", .takesTurnsToExplore, .serialized, .endsHangs)
struct ClockTests {
    /// What may come of a scenario, and nothing else.
    struct Passage: Sendable, CustomTestStringConvertible {
        let name: String
        let outcomes: Set<String>
        var preempts = true
        let setUp: @Sendable (ScheduledRun, Journal) -> Void

        var testDescription: String { name }
    }

    static let passages: [Passage] = [
        Passage(
            name: "timers fire by deadline, equal ones in any order, cancelled ones never",
            outcomes: ["a b late", "b a late"]
        ) { run, journal in
            let clock = run.clock
            clock.schedule(after: .seconds(2)) { journal.add("late") }
            clock.schedule(after: .seconds(1)) { journal.add("a") }
            clock.schedule(after: .seconds(1)) { journal.add("b") }
            clock.schedule(after: .seconds(1)) { journal.add("never") }.cancel()
            run.operation("first") { try await clock.sleep(for: .seconds(3)) }
        },
        Passage(name: "a timer is cancelled before it fires, or after", outcomes: ["", "fires"]) { run, journal in
            let timer = run.clock.schedule(after: .seconds(1)) { journal.add("fires") }
            run.operation("a") { timer.cancel() }
            run.operation("b") { await run.pause("b") }
        },
        Passage(name: "a sleep ends when it is cancelled", outcomes: ["slept at 5", "cancelled at 0"]) { run, journal in
            let sleeper = run.operation("sleeper") {
                do {
                    try await run.clock.sleep(for: .seconds(5))
                    journal.add("slept")
                } catch {
                    journal.add(error is CancellationError ? "cancelled" : "\(error)")
                }
                journal.add("at \(run.clock.now.offset.components.seconds)")
            }
            run.step(cancelling: sleeper)
        },
        Passage(
            name: "nobody goes back, and overdue timers fire in any order",
            outcomes: ["a 10 b", "a b 10", "b a 10", "b 10 a", "10 b a", "10 a b"]
        ) { run, journal in
            run.operation("first") {
                try await run.clock.sleep(for: .seconds(10))
                run.clock.schedule(after: .seconds(-6)) { journal.add("a") }
                run.clock.schedule(after: .seconds(-4)) { journal.add("b") }
                journal.add("\(run.clock.now.offset.components.seconds)")
                try await run.clock.sleep(for: .seconds(1))
            }
        },
        Passage(name: "it is read before it passes, or after", outcomes: ["0", "1"]) { run, journal in
            run.operation("sleeper") { try await run.clock.sleep(for: .seconds(1)) }
            run.operation("reader") { journal.add("\(run.clock.now.offset.components.seconds)") }
        },
        Passage(name: "it ends with all operations", outcomes: [""], preempts: false) { run, journal in
            run.operation("first") { run.clock.schedule(after: .seconds(1)) { journal.add("fires") } }
        },
        Passage(name: "a task sets a timer before all operations have ended, or after", outcomes: ["", "fires"]) {
            run,
            journal in
            run.operation("first") {
                Task.detached { run.clock.schedule(after: .seconds(1)) { journal.add("fires") } }
            }
        },
        Passage(name: "a held operation has not ended", outcomes: ["", "fires"]) { run, journal in
            run.operation("first") { run.clock.schedule(after: .seconds(1)) { journal.add("fires") } }
        },
    ]

    @Test(arguments: passages)
    func `passes as the schedule says, and nobody waits`(_ passage: Passage) async {
        let explorer = Explorer(.exhaustive).with(\.preempts, passage.preempts)
        let outcomes = await allOutcomes(by: explorer) { run in
            let journal = Journal()
            passage.setUp(run, journal)
            return { journal.all.joined(separator: " ") }
        }
        #expect(outcomes == passage.outcomes)
    }

    @Test
    func `fires equal timers in the order in which they were set, and the trace has the time before each step`() async {
        let scenario = Scenario("ties") { run in
            for name in ["a", "b", "c"] { run.clock.schedule(after: .seconds(1)) { run.effect(name) } }
            run.operation("first") { try await run.clock.sleep(for: .seconds(2)) }
        }
        let trace = await Explorer().replay("0", of: scenario).trace
        #expect(trace.effects == ["a", "b", "c"])
        #expect(trace.steps.map(\.participant) == ["first", "clock", "clock", "clock", "clock", "first"])
        #expect(trace.steps.map { $0.time / .seconds(1) } == [0, 0, 1, 1, 1, 2])
    }
}
