import InterleavingExplorer
import TestSupport
import Testing

@Suite("Virtual time", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct ClockTests {
    private func outcomes(
        preempts: Bool = true,
        _ setUp: @escaping @Sendable (ScenarioRun, Journal) -> Void
    ) async -> Set<String> {
        var explorer = Explorer()
        explorer.preempts = preempts
        return await allOutcomes(by: explorer) { run in
            let journal = Journal()
            setUp(run, journal)
            return { journal.all.joined(separator: " ") }
        }
    }

    @Test("passes without waiting: an hour of sleep ends at once, and the clock shows it")
    func sleeps() async {
        let began = ContinuousClock.now
        let outcomes = await outcomes { run, journal in
            run.operation("first") {
                try await run.clock.sleep(for: .seconds(3600))
                journal.add("\(run.clock.now.offset.components.seconds)")
            }
        }
        #expect(outcomes == ["3600"])
        #expect(ContinuousClock.now - began < .seconds(600))
    }

    @Test("may pass before anything else happens, or after: that is a choice")
    func choice() async {
        let outcomes = await outcomes { run, journal in
            run.clock.schedule(after: .seconds(1)) { journal.add("timer") }
            run.step("answer") { journal.add("answer") }
            run.operation("first") { await run.pause("end") }
        }
        #expect(outcomes.isSuperset(of: ["timer answer", "answer timer"]))
    }

    @Test("fires timers in the order of their deadlines, equal ones in any order, cancelled ones never")
    func order() async {
        let outcomes = await outcomes { run, journal in
            let clock = run.clock
            clock.schedule(after: .seconds(2)) { journal.add("late") }
            clock.schedule(after: .seconds(1)) { journal.add("a") }
            clock.schedule(after: .seconds(1)) { journal.add("b") }
            clock.schedule(after: .seconds(1)) { journal.add("never") }.cancel()
            run.operation("first") { try await clock.sleep(for: .seconds(3)) }
        }
        #expect(outcomes == ["a b late", "b a late"])
    }

    @Test("ends a sleep at once when its task is cancelled")
    func cancellation() async {
        let outcomes = await outcomes { run, journal in
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
        }
        #expect(outcomes == ["slept at 5", "cancelled at 0"])
    }

    @Test("can be moved by hand, and timers that are overdue then fire without going back")
    func advance() async {
        let outcomes = await outcomes { run, journal in
            let clock = run.clock
            run.operation("first") {
                clock.advance(by: .seconds(10))
                try await clock.sleep(until: VirtualClock.Instant(offset: .seconds(4)))
                journal.add("\(clock.now.offset.components.seconds)")
            }
        }
        #expect(outcomes == ["10"])
    }

    @Test("fires equal timers in the order in which they were set, if nothing departs from it")
    func ties() async {
        let trace = await Explorer().replay(
            "0",
            of: Scenario("ties") { run in
                for name in ["a", "b", "c"] {
                    run.clock.schedule(after: .seconds(1), name) { run.effect(name) }
                }
                run.operation("first") { try await run.clock.sleep(for: .seconds(2)) }
            }
        ).trace
        #expect(trace.effects == ["a", "b", "c"])
    }

    @Test("fires timers that are overdue in any order, whatever their deadlines were")
    func overdue() async {
        let outcomes = await outcomes { run, journal in
            let clock = run.clock
            run.operation("first") {
                clock.schedule(after: .seconds(1)) { journal.add("a") }
                clock.schedule(after: .seconds(2)) { journal.add("b") }
                clock.schedule(after: .seconds(20)) { journal.add("c") }
                clock.advance(by: .seconds(10))
                try await clock.sleep(for: .seconds(30))
            }
        }
        #expect(outcomes == ["a b c", "b a c"])
    }

    @Test("does not pass any more when all operations have ended")
    func end() async {
        let setUp: @Sendable (ScenarioRun, Journal) -> Void = { run, journal in
            run.operation("first") { run.clock.schedule(after: .seconds(1)) { journal.add("fires") } }
        }
        #expect(await outcomes(preempts: false, setUp) == [""])
        // An operation that is held behind the call has not ended yet.
        #expect(await outcomes(setUp) == ["", "fires"])
    }
}
