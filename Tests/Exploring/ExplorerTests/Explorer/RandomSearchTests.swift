import InterleavingExplorer
import TestSupport
import Testing

@Suite("The search by random priorities", .takesTurnsToExplore, .serialized, .endsHangs)
struct RandomSearchTests {
    @Test(arguments: 1...2)
    func `lets a task run as long as it can, but where it is demoted, at any place of a schedule`(seed: UInt64) async {
        let firstStretches = Protected<[Int]>([])
        let report = await explore("two tasks", by: Explorer(.random(seed: seed, schedules: 80))) { run in
            for name in ["a", "b"] {
                run.operation(name) {
                    for number in 1...10 {
                        run.effect(name)
                        if number < 10 { await Task.yield() }
                    }
                }
            }
            run.invariant("is recorded") {
                let length = run.effects.prefix { $0 == run.effects.first }.count
                firstStretches.withLock { $0.append(length) }
                return true
            }
        }
        #expect(report.holds, "\(report)")
        let lengths = firstStretches.withLock { $0 }
        #expect(lengths.first == 10, "the first one has no demotion")
        #expect(lengths.contains { (1..<4).contains($0) })
        #expect(lengths.contains { (6..<10).contains($0) }, "\(Set(lengths).sorted())")
    }

    @Test(arguments: 1...4)
    func `shortens a schedule to one that fails in the same way, and to its end`(seed: UInt64) async {
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

    @Test(arguments: [nil, Duration.zero])
    func `shortens a long schedule in few runs, and in none when the time is over`(maximumDuration: Duration?) async {
        let runs = Protected(0)
        let explorer = Explorer(.random(seed: 1, schedules: 1)).with(\.maximumDuration, maximumDuration)
        let report = await explore("a failure of each schedule", by: explorer) { run in
            _ = runs.next()
            for name in ["first", "second", "third"] {
                run.operation(name) { for _ in 1...50 { await Task.yield() } }
            }
            run.invariant("never") { false }
        }
        let isShort = maximumDuration == nil
        #expect(report.failure.map { isShort ? $0.schedule.delays == 0 : $0.schedule.delays > 20 } == true, "\(report)")
        // One run finds the failure, and one confirms it.
        #expect(runs.withLock { $0 } == (isShort ? 3 : 2))
    }

    @Test func `finds a failure with no more delays than it needs, by other schedules for another seed`() async {
        var counts: Set<Int> = []
        for seed: UInt64 in 1...3 {
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
            #expect(report.failure?.schedule.delays == 2)
            #expect(report.description.contains("seed \(seed)"))
            #expect(!report.isComplete)
            counts.insert(report.schedules)
        }
        #expect(counts.count > 1)
    }

    @Test(arguments: [(100, 40, 40), (-1, 10, 0), (10, -1, 0), (.min, .min, 0)])
    func `draws no more schedules than are permitted, and none below zero`(schedules: Int, limit: Int, drawn: Int) async
    {
        let explorer = Explorer(.random(seed: 1, schedules: schedules)).with(\.maximumSchedules, limit)
        let report = await explore("one step", by: explorer) { run in
            run.operation("first") { run.effect("first") }
        }
        #expect(report.schedules == drawn)
        #expect(!report.isComplete)
    }
}
