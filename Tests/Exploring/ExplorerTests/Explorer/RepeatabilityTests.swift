import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

/// A search proves nothing of a scenario that depends on more than its schedule, or in which nothing happens.
@Suite("A search does not pass", .takesTurnsToExplore, .endsHangs)
struct RepeatabilityTests {
    /// Says so in the end by one of these.
    enum Sign: CaseIterable, Sendable {
        case effect, note, result, outcome
    }

    @Test(arguments: Sign.allCases)
    func `where chance decides inside of a step`(shownBy sign: Sign) async {
        let runs = Protected(0)
        let report = await explore("a die") { run in
            let counter = Counter()
            run.operation("thrower") {
                // Stands for a random number: the same seed gives the same test.
                let number = runs.next() * 7 % 6
                switch sign {
                case .effect: run.effect("\(number)")
                case .note: run.note("\(number)")
                case .result, .outcome: break
                }
                await counter.increment()
                return sign == .result ? number : 0
            }
            run.operation("other") { await counter.increment() }
            if sign == .outcome {
                let number = runs.next()
                run.outcome { "\(number)" }
            }
        }
        #expect(report.failure?.kind == .unrepeatable, "\(report)")
        #expect(report.failure?.message.contains("when it was run again") == true, "\(report)")
    }

    /// The second schedule is one of those that are run twice.
    @Test func `where chance decides in an order that comes late`() async {
        let runs = Protected(0)
        let report = await explore("a die for the one who is ahead") { run in
            let number = runs.next()
            run.operation("first") { run.effect("first") }
            run.operation("second") {
                run.effect("second")
                if run.effects.first == "second" { run.note("\(number)") }
            }
        }
        #expect(report.failure?.kind == .unrepeatable, "\(report)")
        #expect(report.failure?.schedule == "1", "\(report)")
    }

    @Test func `where nothing happens`() async {
        let report = await explore("a setup that forgets its operations") { run in
            run.invariant("holds") { true }
        }
        #expect(report.holds)
        for isAllowed in [false, true] {
            let failure = #expect(throws: ScenarioFailure.self) { try report.verify(allowIncomplete: isAllowed) }
            #expect(failure?.message.contains("tests nothing") == true, "\(String(describing: failure))")
        }
    }

    @Test
    func `where a task sleeps by a clock of the system: a cancelled sleep is named, and so is one that ends`() async {
        let cancelled = await explore("a cancelled sleep") { run in
            let task = Task(executorPreference: run.executor) { try? await Task.sleep(for: .seconds(600)) }
            run.operation("caller") {
                task.cancel()
                await task.value
            }
        }
        #expect(cancelled.holds && cancelled.omissions == [.realSleeps], "\(cancelled)")
        let ending = await explore("a sleep that ends") { run in
            run.operation("caller") { try await Task.sleep(nanoseconds: 1_000_000) }
        }
        #expect(ending.failure?.kind == .escape, "\(ending)")
        #expect(ending.failure?.message.contains("let it sleep by the run's clock") == true, "\(ending)")
    }
}
