import InterleavingExplorer
import TestSupport
import Testing

@Suite("The search by random priorities", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct RandomSearchTests {
    private func orders(
        _ mode: SearchMode,
        of names: [String],
        effects: Int,
        atMost limit: Int = 100_000
    ) async -> [String] {
        let seen = Journal()
        var explorer = Explorer(mode)
        explorer.maximumSchedules = limit
        let report = await explorer.explore(
            Scenario("orders") { run in
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
        )
        #expect(report.holds, "\(report)")
        // The rest are repetitions of first-in-first-out order.
        return Array(seen.all.prefix(report.schedules))
    }

    @Test("draws anew for every schedule, until every order has come")
    func draws() async {
        let orders = await orders(.random(seed: 1, schedules: 500), of: ["a", "b", "c", "d"], effects: 1)
        #expect(orders.count == 500)
        #expect(Set(orders).count == 24)
    }

    @Test("lets a task run as long as it can, but where it is demoted", arguments: 1...20)
    func priorities(seed: UInt64) async {
        let orders = await orders(.random(seed: seed, schedules: 1), of: ["a", "b"], effects: 4)
        #expect(["aaaabbbb", "bbbbaaaa"].contains(orders.first), "the first one has no demotion")
    }

    @Test("demotes a task at any place of a schedule, however long that is")
    func demotions() async {
        let orders = await orders(.random(seed: 1, schedules: 300), of: ["a", "b"], effects: 50)
        let switches = orders.map { order in order.prefix { $0 == order.first }.count }
        #expect(switches.contains { (1..<20).contains($0) })
        #expect(switches.contains { (30..<50).contains($0) }, "\(Set(switches).sorted())")
    }

    @Test("draws no more schedules than are permitted")
    func limit() async {
        #expect(await orders(.random(seed: 1, schedules: 100), of: ["a", "b"], effects: 1, atMost: 40).count == 40)
    }

    @Test("shortens a schedule to one that fails in the same way, and to its end", arguments: 1...20)
    func shortening(seed: UInt64) async {
        var explorer = Explorer(.random(seed: seed, schedules: 100))
        explorer.patience = .milliseconds(1)
        let waiting = await explorer.explore(
            Scenario("two ways to fail") { run in
                run.operation("first") {
                    run.effect("first")
                    if run.effects == ["first"] {
                        await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    }
                }
                run.operation("second") { run.effect("second") }
                run.invariant("the first is first") { run.effects.first == "first" }
            }
        )
        #expect(waiting.failure.map { [.brokenInvariant, .lostWaiter].contains($0.kind) } == true, "\(waiting)")
        let early = await explorer.explore(
            Scenario("two places to fail") { run in
                for name in ["first", "second", "third"] {
                    run.operation(name) { run.effect(name) }
                }
                run.always("the first is not first") { run.effects.first != "first" }
                run.always("the first is not last") { run.effects != ["second", "third", "first"] }
            }
        )
        #expect(early.failure?.kind == .brokenInvariant, "\(early)")
    }

    @Test("tries nothing if the number of schedules is below zero", arguments: [(-1, 10), (10, -1), (.min, .min)])
    func belowZero(schedules: Int, limit: Int) async {
        var explorer = Explorer(.random(seed: 1, schedules: schedules))
        explorer.maximumSchedules = limit
        let report = await explorer.explore(
            Scenario("one step") { run in
                run.operation("first") { run.effect("first") }
            }
        )
        #expect(report.schedules == 0)
        #expect(!report.isComplete)
    }
}
