import InterleavingExplorer
import TestSupport
import Testing

@Suite("The search by random priorities", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct RandomSearchTests {
    /// The orders in which the effects of some tasks came, schedule by schedule.
    private func orders(seed: UInt64 = 1, schedules: Int, of names: [String], effects: Int) async -> [String] {
        let seen = Journal()
        let report = await explore("orders", by: Explorer(.random(seed: seed, schedules: schedules))) { run in
            for name in names {
                run.operation(name) {
                    for number in 1...effects {
                        run.effect(name)
                        if number < effects { await Task.yield() }
                    }
                }
            }
            run.invariant("is recorded") {
                seen.add(run.effects.joined())
                return true
            }
        }
        #expect(report.holds, "\(report)")
        // The rest are repetitions of first-in-first-out order.
        return Array(seen.all.prefix(report.schedules))
    }

    @Test("draws anew for every schedule, until every order has come")
    func draws() async {
        let orders = await orders(schedules: 500, of: ["a", "b", "c", "d"], effects: 1)
        #expect(orders.count == 500)
        #expect(Set(orders).count == 24)
    }

    @Test("lets a task run as long as it can, but where it is demoted", arguments: 1...5)
    func priorities(seed: UInt64) async {
        let orders = await orders(seed: seed, schedules: 1, of: ["a", "b"], effects: 4)
        #expect(["aaaabbbb", "bbbbaaaa"].contains(orders.first), "the first one has no demotion")
    }

    @Test("demotes a task at any place of a schedule, however long that is")
    func demotions() async {
        let orders = await orders(schedules: 150, of: ["a", "b"], effects: 50)
        let switches = orders.map { order in order.prefix { $0 == order.first }.count }
        #expect(switches.contains { (1..<20).contains($0) })
        #expect(switches.contains { (30..<50).contains($0) }, "\(Set(switches).sorted())")
    }

    @Test("shortens a schedule to one that fails in the same way, and to its end", arguments: 1...8)
    func shortening(seed: UInt64) async {
        let explorer = Explorer(.random(seed: seed, schedules: 100)).with(\.patience, .milliseconds(1))
        let waiting = await explore("two ways to fail", by: explorer) { run in
            run.operation("first") {
                run.effect("first")
                if run.effects == ["first"] { await silence() }
            }
            run.operation("second") { run.effect("second") }
            run.invariant("the first is first") { run.effects.first == "first" }
        }
        #expect(waiting.failure.map { [.brokenInvariant, .lostWaiter].contains($0.kind) } == true, "\(waiting)")
        let early = await explore("two places to fail", by: explorer) { run in
            for name in ["first", "second", "third"] { run.operation(name) { run.effect(name) } }
            run.always("the first is not first") { run.effects.first != "first" }
            run.always("the first is not last") { run.effects != ["second", "third", "first"] }
        }
        #expect(early.failure?.kind == .brokenInvariant, "\(early)")
    }

    @Test("finds the same again from the same seed, with no more delays than it needs")
    func seeds() async {
        var counts: Set<Int> = []
        for seed: UInt64 in 1...5 {
            var reports: [ExplorationReport] = []
            for _ in 1...2 {
                let report = await explore("ahead", by: Explorer(.random(seed: seed, schedules: 1000))) { run in
                    for name in ["first", "second", "third"] {
                        run.operation(name) {
                            run.effect(name)
                            await run.pause("next")
                            run.effect(name)
                        }
                    }
                    run.invariant("the third is not ahead") { Array(run.effects.prefix(2)) != ["third", "third"] }
                }
                reports.append(report)
            }
            #expect(reports[0].failure?.schedule.delays == 2)
            #expect(reports[0].failure?.schedule == reports[1].failure?.schedule)
            #expect(reports[0].schedules == reports[1].schedules)
            #expect(reports[0].description.contains("seed \(seed)"))
            #expect(!reports[0].isComplete)
            counts.insert(reports[0].schedules)
        }
        #expect(counts.count > 1, "another seed, other schedules")
    }

    @Test(
        "draws no more schedules than are permitted, and none below zero",
        arguments: [(100, 40, 40), (-1, 10, 0), (10, -1, 0), (.min, .min, 0)]
    )
    func limits(schedules: Int, limit: Int, drawn: Int) async {
        let explorer = Explorer(.random(seed: 1, schedules: schedules)).with(\.maximumSchedules, limit)
        let report = await explore("one step", by: explorer) { run in
            run.operation("first") { run.effect("first") }
        }
        #expect(report.schedules == drawn)
        #expect(!report.isComplete)
    }
}
