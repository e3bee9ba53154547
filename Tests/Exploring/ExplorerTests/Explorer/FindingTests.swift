import InterleavingExplorer
import TestSupport
import Testing

@Suite("The explorer finds", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct FindingTests {
    private let explorer = Explorer()

    @Test("a lost waiter, as a failure of its own kind that names who waits")
    func lostWaiter() async {
        func scenario(looksAgain: Bool) -> Scenario {
            Scenario("a gate") { run in
                let gate = Gate(looksAgain: looksAgain)
                run.operation("opener") { await gate.open() }
                run.operation("walker") { await gate.wait() }
            }
        }
        let faulty = await explorer.explore(scenario(looksAgain: false))
        #expect(faulty.failure?.kind == .lostWaiter)
        #expect(faulty.failure?.message.contains("walker") == true)
        #expect(faulty.failure?.message.contains("opener") == false)
        let fixed = await explorer.explore(scenario(looksAgain: true))
        #expect(fixed.holds && fixed.isComplete)
    }

    @Test("an operation that never comes to an end")
    func livelock() async {
        let report = await explorer.explore(
            Scenario("an endless loop") { run in
                run.operation("first") { while true { await Task.yield() } }
            }
        )
        #expect(report.failure?.kind == .livelock)
    }

    @Test("an error that nobody expects, but not one that the scenario announced or asked for")
    func thrownErrors() async {
        struct Refusal: Error {}
        let unexpected = await explorer.explore(
            Scenario("a refusal") { run in
                run.operation("first") { throw Refusal() }
            }
        )
        #expect(unexpected.failure?.kind == .unexpectedError)
        #expect(unexpected.failure?.message.contains("Refusal") == true)
        let expected = await explorer.explore(
            Scenario("an expected refusal and a cancellation") { run in
                let first = run.operation("first", mayThrow: true) { throw Refusal() }
                let second = run.operation("second") { try await run.clock.sleep(for: .seconds(1)) }
                run.step(cancelling: second)
                run.invariant("the first was refused") { first.error is Refusal && first.value == nil }
            }
        )
        #expect(expected.holds && expected.isComplete, "\(expected)")
    }

    @Test("a condition that is broken for a moment only")
    func permanentCondition() async {
        let report = await explorer.explore(
            Scenario("an intermediate state") { run in
                let journal = Journal()
                run.step("take") { journal.add("taken") }
                run.operation("first") { await run.pause("a moment") }
                run.always("taken at most at the beginning") { journal.all.isEmpty }
            }
        )
        #expect(report.failure?.message.contains("taken at most") == true)
    }
}

/// Callers that come at once to a subject that must load once.
func loading(_ style: Loads.Style, callers: Int, plainTasks: Bool = false) -> Scenario {
    Scenario("\(callers) callers") { run in
        let loads = Loads(style, executor: plainTasks ? nil : run.executor) { await run.pause("answer") }
        for number in 1...callers {
            run.operation("caller \(number)") { await loads.token() }
        }
        run.invariant("one load") { await loads.started == 1 }
    }
}
