import InterleavingExplorer
import TestSupport
import Testing

@Suite("A schedule", .takesTurnsToExplore, .serialized, .endsHangs)
struct ReplayTests {
    private var faulty: Scenario {
        Scenario("two withdrawals with a check in between") { run in
            let account = Account(balance: 100)
            run.operation("first") {
                await account.withdraw(80) { await run.pause("approval") }
                run.note("first is done")
            }
            run.operation("second") {
                await run.pause("walk")
                await account.withdraw(80) {}
            }
            run.invariant("no overdraft") { await account.balance >= 0 }
        }
    }

    @Test func `that asks for a choice which is not there, or has digits left in the end, has diverged`() async throws {
        let failing = try #require(await Explorer().explore(faulty).failure).schedule
        let zeros = String(repeating: "0", count: 30)
        for (string, end) in [("9", "do not fit"), ("\(zeros)1", "its end"), ("\(failing)\(zeros)1", "no overdraft")] {
            let replay = await Explorer().replay(try #require(Schedule(parsing: string)), of: faulty)
            #expect(replay.failure?.kind == .divergedReplay)
            #expect(replay.failure?.message.contains(end) == true, "what it came to is said: \(replay)")
        }
    }

    /// Scenarios that depend on the number of their run, which begins with 1, and what the failure says.
    static let unsteadyScenarios: [(what: String, says: String, setUp: @Sendable (ScheduledRun, Int) throws -> Void)] =
        [
            (
                "another operation from the second run on", "",
                { run, number in
                    for name in ["a", "b", "c"].prefix(number == 1 ? 2 : 3) { run.operation(name) { run.effect(name) } }
                }
            ),
            (
                "broken only once", "holds the second time",
                { run, number in
                    run.operation("first") {}
                    run.invariant("holds the second time") { number > 1 }
                }
            ),
            (
                "broken in a repetition of the only schedule there is", "holds at first",
                { run, number in
                    run.operation("first") {}
                    run.invariant("holds at first") { number != 9 }
                }
            ),
            (
                "as many candidates in a repetition, but not the same ones", "",
                { run, number in
                    run.operation("first") {
                        if number < 9 {
                            await Task.yield()
                        } else {
                            Task(executorPreference: run.executor) {}
                        }
                    }
                    run.operation("second") {}
                }
            ),
        ]

    @Test(arguments: unsteadyScenarios.indices)
    func `of a scenario that depends on something else is found to diverge`(_ index: Int) async {
        let (what, says, setUp) = Self.unsteadyScenarios[index]
        let runs = Protected(0)
        let report = await explore(what) { run in
            let number = runs.next()
            try setUp(run, number)
        }
        #expect(report.failure?.kind == .divergedReplay, "\(report)")
        #expect(says.isEmpty || report.failure?.message.contains(says) == true, "\(report)")
    }

    @Test func `is written in base 36 and dots, without the zeros and dots at its end`() {
        #expect(Schedule(parsing: "0101")?.description == "0101")
        #expect(Schedule(parsing: "0100")?.description == "01")
        #expect(Schedule(parsing: "")?.description == "0")
        #expect(Schedule(parsing: "Zz0a")?.description == "zz0a")
        #expect(Schedule(parsing: "0z01")?.delays == 2)
        #expect(Schedule(parsing: "+0100")?.description == "+01")
        #expect(Schedule(parsing: "+")?.description == "+0")
        #expect(Schedule(parsing: "_0.10.0")?.description == "_0.10.")
        #expect(Schedule(parsing: "0.1")?.delays == 1)
        #expect(Schedule(parsing: "01+") == nil)
        #expect(Schedule(parsing: "++01") == nil)
        #expect(Schedule(parsing: "01 1") == nil)
        #expect(Schedule(parsing: "-1") == nil)
        #expect(Schedule(parsing: "é") == nil)
    }
}
