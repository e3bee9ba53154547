import InterleavingExplorer
import TestSupport
import Testing

@Suite("The explorer finds", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct FindingTests {
    private let explorer = Explorer()

    private func withdrawals(revalidates: Bool) -> Scenario {
        Scenario("two withdrawals") { run in
            let account = Account(balance: 100, revalidates: revalidates)
            for name in ["first", "second"] {
                run.operation(name) { await account.withdraw(80) { await run.pause("approval for \(name)") } }
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
        }
    }

    @Test("a check that an await separates from its act, and the second look that mends it")
    func checkThenAct() async {
        let faulty = await explorer.explore(withdrawals(revalidates: false))
        #expect(faulty.failure?.kind == .brokenInvariant)
        #expect(faulty.failure?.message.contains("no overdraft") == true)
        let fixed = await explorer.explore(withdrawals(revalidates: true))
        #expect(fixed.holds && fixed.isComplete)
        #expect(fixed.schedules > 1)
    }

    @Test("a lost update between a read and a write that are two calls of an actor")
    func lostUpdate() async {
        func scenario(atomic: Bool) -> Scenario {
            Scenario("two increments") { run in
                let counter = Counter()
                for name in ["first", "second"] {
                    run.operation(name) {
                        if atomic {
                            await counter.increment()
                        } else {
                            await counter.set(await counter.value + 1)
                        }
                    }
                }
                run.invariant("both count") { await counter.value == 2 }
            }
        }
        let faulty = await explorer.explore(scenario(atomic: false))
        #expect(faulty.failure?.kind == .brokenInvariant)
        let fixed = await explorer.explore(scenario(atomic: true))
        #expect(fixed.holds && fixed.isComplete)
    }

    @Test("a second load where nothing is shared")
    func unguardedLoad() async {
        let report = await explorer.explore(loading(.unguarded, callers: 2))
        #expect(report.failure?.message.contains("one load") == true)
        #expect(report.schedules == 1, "first-in-first-out order is enough")
    }

    @Test("that every caller's defer clears a newer flight, and that it holds if the load clears its own")
    func everyCallersDefer() async {
        func scenario(_ style: Loads.Style) -> Scenario {
            Scenario("two callers, one of which invalidates and asks again") { run in
                let loads = Loads(style, executor: run.executor) { await run.pause("answer") }
                run.operation("first") { await loads.token() }
                run.operation("second") {
                    _ = await loads.token()
                    await loads.invalidate()
                    _ = await loads.token()
                }
                run.operation("third") { await loads.token() }
                run.invariant("one load at a time") { await loads.mostInFlight == 1 }
            }
        }
        let faulty = await explorer.explore(scenario(.everyCallerClears))
        #expect(faulty.failure?.message.contains("one load at a time") == true)
        #expect(faulty.failure?.schedule.delays ?? 0 > 0, "first-in-first-out order hides it")
        var explorer = explorer
        explorer.maximumSchedules = 1_000
        let fixed = await explorer.explore(scenario(.loadClears))
        #expect(fixed.holds)
        print("shared load, \(faulty.schedules) until found; \(fixed)")
    }

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
