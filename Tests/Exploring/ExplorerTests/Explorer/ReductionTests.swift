import InterleavingExplorer
import TestSupport
import Testing

/// The reductions must not lose an outcome: what can happen at all can happen in what is left.
@Suite("The reductions", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct ReductionTests {
    /// A scenario that reports what came out of it.
    typealias Script = @Sendable (ScenarioRun, Journal) -> Void

    private func outcomes(
        _ script: @escaping Script,
        _ reductions: Reductions,
        atMost limit: Int = 60_000
    ) async -> (Set<String>, Int) {
        let seen = Shared<Set<String>>([])
        let scenario = Scenario("outcomes") { run in
            let journal = Journal()
            script(run, journal)
            run.invariant("is recorded") {
                _ = seen.withLock { $0.insert(journal.all.sorted().joined(separator: ", ")) }
                return true
            }
        }
        var explorer = Explorer()
        explorer.reductions = reductions
        explorer.maximumSchedules = limit
        let report = await explorer.explore(scenario)
        #expect(report.holds, "\(report)")
        #expect(report.isComplete || report.schedules == limit, "\(report)")
        return (seen.withLock { $0 }, report.schedules)
    }

    private func compare(outcomes expected: Int, _ script: @escaping Script) async {
        let (all, many) = await outcomes(script, .sleepSets)
        for reductions in [Reductions.all] {
            let (left, few) = await outcomes(script, reductions)
            #expect(left == all, "\(reductions)")
            #expect(few <= many)
        }
        #expect(all.count == expected, "\(all)")
    }

    @Test("keep every order in which an actor can be entered")
    func actorEntries() async {
        await compare(outcomes: 6) { run, journal in
            let cell = Cell()
            for name in ["a", "b"] {
                run.operation(name) {
                    let first = await cell.add(name)
                    // Without something in between, the compiler makes one visit of the two.
                    run.note("between")
                    let second = await cell.add(name)
                    journal.add("\(name) saw \(first) and \(second)")
                }
            }
        }
    }

    @Test("keep what an actor's own suspension lets in")
    func actorSuspensions() async {
        await compare(outcomes: 6) { run, journal in
            let cell = Cell()
            run.operation("a") { journal.add("a saw \(await cell.addTwice("a"))") }
            run.operation("b") { journal.add("b saw \(await cell.addTwice("b"))") }
        }
    }

    @Test("keep what happens between two actors")
    func twoActors() async {
        actor Front {
            let back: Cell
            var log = ""
            init(_ back: Cell) { self.back = back }
            func pass(_ name: String) async -> String {
                log += name
                let seen = await back.add(name)
                return "\(seen)/\(log)"
            }
        }
        await compare(outcomes: 4) { run, journal in
            let back = Cell()
            let front = Front(back)
            for name in ["a", "b"] {
                run.operation(name) { journal.add("\(name) saw \(await front.pass(name))") }
            }
        }
    }

    @Test("keep the order in which the children of a group end")
    func groups() async {
        await compare(outcomes: 6) { run, journal in
            run.operation("group") {
                let order = await withTaskGroup(of: String.self) { group in
                    for name in ["a", "b", "c"] {
                        group.addTask {
                            await Task.yield()
                            return name
                        }
                    }
                    return await group.reduce("", +)
                }
                journal.add(order)
            }
        }
    }

    @Test("keep the order in which values come to somebody who waits for them")
    func streams() async {
        await compare(outcomes: 2) { run, journal in
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            run.operation("reader") {
                for await name in stream.prefix(2) {
                    journal.add("\(journal.all.count) \(name)")
                }
            }
            run.operation("a") { continuation.yield("a") }
            run.operation("b") { continuation.yield("b") }
        }
    }

    @Test("keep every moment at which a task can be cancelled")
    func cancellations() async {
        await compare(outcomes: 5) { run, journal in
            let cell = Cell()
            let operation = run.operation("a") {
                var seen = [Task.isCancelled]
                await Task.yield()
                seen.append(Task.isCancelled)
                _ = await cell.add("")
                seen.append(Task.isCancelled)
                await Task.yield()
                seen.append(Task.isCancelled)
                journal.add(seen.map { $0 ? "cancelled" : "not" }.joined(separator: ", "))
            }
            run.operation("b") { _ = await cell.add("") }
            run.step(cancelling: operation)
        }
    }

    @Test("keep the order of marked effects, of timers, and of blocks on a queue")
    func effects() async {
        await compare(outcomes: 5) { run, journal in
            run.operation("a") {
                run.effect("a")
                try await run.clock.sleep(for: .seconds(1))
                run.effect("a")
            }
            run.operation("b") {
                await run.pause("b")
                run.effect(run.clock.now.offset == .zero ? "b before" : "b after")
                journal.add(run.effects.joined(separator: " "))
            }
        }
        await compare(outcomes: 2) { run, journal in
            run.operation("a") { try await run.clock.sleep(for: .seconds(1)) }
            run.operation("b") { journal.add(run.clock.now.offset == .zero ? "before" : "after") }
        }
        await compare(outcomes: 2) { run, journal in
            let queue = run.queue("queue")
            run.operation("a") { queue.async { journal.add("a \(journal.all.count)") } }
            run.operation("b") { queue.async { journal.add("b \(journal.all.count)") } }
        }
    }

    @Test("keep who wakes a shared task's callers, and what they do then")
    func sharedTask() async {
        await compare(outcomes: 2) { run, journal in
            let cell = Cell()
            let task = Task(executorPreference: run.executor) {
                await run.pause("answer")
                return await cell.add("t")
            }
            for name in ["a", "b"] {
                run.operation(name) {
                    _ = await task.value
                    journal.add("\(name) saw \(await cell.add(name))")
                }
            }
        }
    }

    @Test("keep every moment at which a child task can be cancelled")
    func childCancellations() async {
        await compare(outcomes: 3) { run, journal in
            let operation = run.operation("a") {
                async let child: [Bool] = {
                    var seen = [Task.isCancelled]
                    await Task.yield()
                    seen.append(Task.isCancelled)
                    return seen
                }()
                journal.add(await child.map { $0 ? "cancelled" : "not" }.joined(separator: ", "))
            }
            run.operation("b") {}
            run.step(cancelling: operation)
        }
    }

    @Test("keep every order in which a plain task and others can go on and enter an actor")
    func plainTasks() async {
        await compare(outcomes: 6) { run, journal in
            let cell = Cell()
            for name in ["a", "b"] {
                run.operation(name) {
                    await Task {
                        let first = await cell.add(name)
                        run.note("between")
                        let second = await cell.add(name)
                        journal.add("\(name) saw \(first) and \(second)")
                    }.value
                }
            }
        }
    }

    @Test("keep the moments at which a timer is set or cancelled, and the clock moved")
    func clock() async {
        await compare(outcomes: 2) { run, journal in
            let timer = run.clock.schedule(after: .seconds(1)) { journal.add("fires") }
            run.operation("a") { timer.cancel() }
            run.operation("b") { await run.pause("b") }
        }
        await compare(outcomes: 2) { run, journal in
            for seconds in [1, 2] {
                run.operation("\(seconds)") {
                    try await run.clock.sleep(until: VirtualClock.Instant(offset: .seconds(seconds)))
                    journal.add("\(journal.all.count): \(seconds)")
                }
            }
        }
        await compare(outcomes: 2) { run, journal in
            run.operation("a") { run.clock.advance(by: .seconds(10)) }
            run.operation("b") { journal.add("\(run.clock.now.offset.components.seconds)") }
        }
    }

    @Test("keep what comes after a step that others go ahead of, past one that does nothing")
    func pastSilence() async {
        await compare(outcomes: 12) { run, journal in
            @Sendable func act(_ name: String) {
                run.effect(name)
                journal.add("\(journal.all.count): \(name)")
            }
            run.operation("a") { act("a") }
            run.operation("silent") {}
            run.operation("b") {
                act("b")
                await run.pause("b")
                act("b")
            }
            run.operation("c") { act("c") }
        }
    }

    @Test("are none where none are wanted: steps that do nothing are tried in every order")
    func none() async {
        var explorer = Explorer()
        var counts: [Int] = []
        for reductions in [Reductions.none, .entersActorsAtOnce, .all] {
            explorer.reductions = reductions
            let report = await explorer.explore(
                Scenario("silence") { run in
                    for name in ["a", "b", "c"] {
                        run.operation(name) {}
                    }
                }
            )
            #expect(report.holds && report.isComplete)
            counts.append(report.schedules)
        }
        #expect(counts == [6, 6, 1])
    }
}
