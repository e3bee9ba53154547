import InterleavingExplorer
import TestSupport
import Testing

@Suite("The search", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct SearchTests {
    /// Operations that do nothing but a number of effects each: their interleavings can be counted by hand.
    private func effects(_ counts: [Int]) -> Scenario {
        Scenario("independent effects") { run in
            for (index, count) in counts.enumerated() {
                run.operation("operation \(index)") {
                    for number in 1...count {
                        run.effect("\(index).\(number)")
                        if number < count {
                            await run.pause("next")
                        }
                    }
                }
            }
        }
    }

    @Test(
        "runs each interleaving once: the multinomial coefficient",
        arguments: [([1], 1), ([1, 1], 2), ([1, 1, 1], 6), ([2, 2], 6), ([3, 3], 20), ([2, 2, 2], 90)]
    )
    func counts(counts: [Int], expected: Int) async {
        let report = await Explorer().explore(effects(counts))
        #expect(report.schedules == expected)
        #expect(report.isComplete)
    }

    @Test("needs hundreds of schedules, not thousands, for an actor with three callers")
    func reduced() async {
        let report = await Explorer().explore(loading(.loadClears, callers: 3))
        #expect(report.holds && report.isComplete, "\(report)")
        #expect((50...1000).contains(report.schedules), "\(report.schedules)")
        var counts: [Int] = []
        for reduces in [true, false] {
            var explorer = Explorer()
            explorer.preempts = false
            explorer.reduces = reduces
            counts.append(await explorer.explore(loading(.loadClears, callers: 2)).schedules)
        }
        #expect(counts[0] < counts[1], "\(counts)")
        print("three callers: \(report.schedules) schedules")
    }

    @Test("reports a failure with the fewest delays")
    func fewestDelays() async {
        let scenario = Scenario("out of order") { run in
            for name in ["first", "second", "third"] {
                run.operation(name) { run.effect(name) }
            }
            run.invariant("the first is not last") { run.effects != ["second", "third", "first"] }
            run.invariant("the third is not first") { run.effects != ["third", "first", "second"] }
        }
        let report = await Explorer().explore(scenario)
        #expect(report.failure?.schedule.delays == 1)
        #expect(report.failure?.schedule.description == "2")
    }

    @Test("counts all failures if it does not stop at the first")
    func allFailures() async {
        var explorer = Explorer()
        explorer.stopsAtFirstFailure = false
        let scenario = Scenario("three at once") { run in
            for name in ["first", "second", "third"] {
                run.operation(name) { run.effect(name) }
            }
            run.invariant("the third never goes first") { run.effects.first != "third" }
        }
        let report = await explorer.explore(scenario)
        #expect(report.schedules == 6)
        #expect(report.failures == 2)
        #expect(report.isComplete)
        #expect(throws: ScenarioFailure.self) { try report.verify() }
    }

    @Test("says that it is not complete when it ends early")
    func limit() async {
        var explorer = Explorer()
        explorer.maximumSchedules = 7
        let report = await explorer.explore(effects([3, 3]))
        #expect(report.schedules == 7)
        #expect(!report.isComplete)
    }

    @Test("is not complete where more could run than a digit can tell apart", arguments: [(36, true), (37, false)])
    func width(operations: Int, isComplete: Bool) async {
        let report = await Explorer().explore(
            Scenario("a crowd") { run in
                for number in 1...operations {
                    run.operation("\(number)") {}
                }
            }
        )
        #expect(report.holds && report.schedules == 1)
        #expect(report.isComplete == isComplete)
    }

    @Test("finds by random priorities, and finds the same again from the same seed")
    func random() async throws {
        let scenario = Scenario("out of order") { run in
            for name in ["first", "second", "third"] {
                run.operation(name) {
                    run.effect(name)
                    await run.pause("next")
                    run.effect(name)
                }
            }
            run.invariant("the third is not ahead") { Array(run.effects.prefix(2)) != ["third", "third"] }
        }
        let first = await Explorer(.random(seed: 7, schedules: 1000)).explore(scenario)
        let second = await Explorer(.random(seed: 7, schedules: 1000)).explore(scenario)
        #expect(first.failure?.schedule.delays == 2, "no more than it needs")
        #expect(first.failure?.schedule == second.failure?.schedule)
        #expect(first.schedules == second.schedules)
        #expect(first.description.contains("seed 7"))
        #expect(!first.isComplete)
        let seeds = await withTaskGroup(of: Int.self) { group in
            for seed in 1...5 {
                group.addTask {
                    await Explorer(.random(seed: UInt64(seed), schedules: 1000)).explore(scenario).schedules
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(seeds.count > 1, "another seed, other schedules")
    }
}
