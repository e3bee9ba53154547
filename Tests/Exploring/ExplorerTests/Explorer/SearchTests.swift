import InterleavingExplorer
import TestSupport
import Testing

@Suite("The search", .takesTurnsToExplore, .serialized, .endsHangs)
struct SearchTests {
    /// Operations that do nothing but a number of effects each: their interleavings can be counted by hand.
    private func effects(
        _ counts: [Int],
        named name: String = "independent effects",
        pausing: Bool = true,
        hold check: @escaping @Sendable (_ order: String) -> Bool = { _ in true }
    ) -> Scenario {
        Scenario(name) { run in
            for (index, count) in counts.enumerated() {
                run.operation("operation \(index)") {
                    for number in 1...count {
                        run.effect("\(index)")
                        if pausing, number < count { await run.pause("next") }
                    }
                }
            }
            run.invariant("this order does not come") { check(run.effects.joined()) }
        }
    }

    @Test func `begins with what is to be prepared, in one piece`() async {
        let report = await explore("prepared") { run in
            let counter = Counter()
            let before = run.operation("first") { await counter.value }
            try run.prepare {
                await counter.increment()
                await Task.yield()
                await counter.increment()
            }
            run.invariant("preparation came first") { before.value == 2 }
        }
        #expect(report.holds && report.isComplete)
        #expect(report.schedules == 1)
    }

    @Test(arguments: [([1], 1), ([1, 1], 2), ([1, 1, 1], 6), ([2, 2], 6), ([3, 3], 20), ([2, 2, 2], 90)])
    func `runs each interleaving once: the multinomial coefficient`(counts: [Int], expected: Int) async {
        let report = await Explorer().explore(effects(counts))
        #expect(report.schedules == expected)
        #expect(report.isComplete)
    }

    @Test(arguments: [true, false])
    func `tries steps that do nothing in one order only, and hints at it, or in every order`(reduces: Bool) async throws
    {
        let report = await explore("silence", by: Explorer().with(\.reduces, reduces)) { run in
            for name in ["a", "b", "c"] { run.operation(name) {} }
        }
        #expect(report.holds && report.isComplete)
        #expect(report.schedules == (reduces ? 1 : 6))
        let warning = "Nothing shared was seen between “a”, “b”, “c” and others"
        #expect(report.unmarked?.hasPrefix(warning) == true, "\(report)")
        #expect(throws: ScenarioFailure.self) { try report.verify() }
        try report.verify(allowIncomplete: true)
    }

    @Test func `reports the failure with the fewest delays, and counts all if it does not stop at the first`() async {
        let scenario = effects([1, 1, 1]) { $0 != "120" && $0 != "201" }
        for stops in [true, false] {
            let report = await Explorer().with(\.stopsAtFirstFailure, stops).explore(scenario)
            #expect(report.failure?.schedule == "2")
            #expect(report.failures == (stops ? 1 : 2))
            #expect(stops || report.schedules == 6 && report.isComplete)
            #expect(throws: ScenarioFailure.self) { try report.verify() }
        }
    }

    @Test func `counts no failure twice where it begins anew, since a task was cancelled`() async {
        let report = await explore("a cancelled task", by: Explorer().with(\.stopsAtFirstFailure, false)) { run in
            let counter = Counter()
            run.operation("first") {
                let task = Task(executorPreference: run.executor) { await counter.increment() }
                task.cancel()
                await task.value
            }
            run.invariant("holds") { false }
        }
        #expect(report.failures == report.schedules && report.isComplete, "\(report)")
    }

    @Test
    func `goes on at random if there are many schedules, and finds the same each time, with the fewest delays`()
        async throws
    {
        let scenario = effects([2, 2, 2, 2]) { $0 != "33221100" }
        let explorer = Explorer().with(\.runsBeforeShortcuts, 100).with(\.randomSchedules, 1_000)
        let reports = [await explorer.explore(scenario), await explorer.explore(scenario)]
        for report in reports {
            #expect(report.failure?.schedule == reports[0].failure?.schedule)
            #expect(report.schedules == reports[0].schedules, "the random schedules are the same each time")
            #expect((101...1_100).contains(report.schedules + report.redundantRuns), "\(report)")
            #expect(report.description.contains("random schedules came next (seed 0), which failed"), "\(report)")
        }
        let failure = try #require(reports[0].failure)
        #expect(await Explorer().replay(failure.schedule, of: scenario).failure?.kind == .brokenInvariant)
    }

    @Test
    func `is not called complete where the orders without interruptions are all, and the report says how it went on`()
        async throws
    {
        let report = await BigSearch.outcome.value.report
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.schedules + report.redundantRuns == BigSearch.limit - 24)
        #expect(try textOfPage("FindARace").contains("\(report)"), "\(report)")
        #expect(report.description.contains("Without interruptions it holds under all 24 schedules."), "\(report)")
        #expect(report.description.contains("2000 random schedules came next (seed 0); then the search went on"))
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.message.contains("without interruptions under all 24, but there are more: ") == true)
        #expect(failure?.message.contains("set preempts = false") == true)
    }

    @Test func `finds in a big scenario what is one of few orders without interruptions`() async throws {
        // Too many orders for the random ones to find it, and three delays: these come soon without interruptions only.
        let scenario = effects([2, 2, 2, 2, 2, 2, 2], pausing: false) { $0 != "33221100445566" }
        let explorer = Explorer().with(\.runsBeforeShortcuts, 50).with(\.randomSchedules, 50)
        let report = await explorer.explore(scenario)
        let failure = try #require(report.failure, "\(report)")
        #expect(failure.schedule == "_321")
        #expect(report.failures == 1 && report.withoutInterruptions?.isComplete == false, "\(report)")
        #expect(await Explorer().replay(failure.schedule, of: scenario).failure?.kind == .brokenInvariant)
    }

    @Test
    func `says of a search without interruptions that its schedules are not all, and they replay by themselves`()
        async throws
    {
        let explorer = Explorer().with(\.preempts, false)
        let complete = await explorer.explore(effects([2, 2, 2, 2], pausing: false))
        #expect(complete.description.hasSuffix("24 schedules (automatic); that is all of them without interruptions"))
        try complete.verify()
        let scenario = effects([2, 2], pausing: false) { $0 != "1100" }
        let failure = try #require(await explorer.explore(scenario).failure)
        #expect(failure.schedule == "_1")
        let replay = await Explorer().replay(failure.schedule, of: scenario)
        #expect(replay.failure?.schedule == failure.schedule && replay.failure?.kind == .brokenInvariant, "\(replay)")
    }
}
