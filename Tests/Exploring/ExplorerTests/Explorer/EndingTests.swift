import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

@Suite("The end of a schedule", .takesTurnsToExplore, .serialized, .endsHangs)
struct EndingTests {
    /// Calls the run when its last reference goes.
    private final class Farewell: Sendable {
        private let run: ScheduledRun
        private let timer: VirtualTimer

        init(_ run: ScheduledRun) {
            self.run = run
            timer = run.clock.schedule(after: .seconds(2), "a timer of its own") {}
        }

        deinit {
            timer.cancel()
            run.effect("gone")
            run.step("one more") {}
            run.clock.schedule(after: .seconds(1), "another timer") {}
        }
    }

    @Test
    func `ends objects that call the run then, where a timer had held them that is cancelled, or never ends`() async {
        let report = await explore("objects that call the run at their end") { run in
            run.operation("cancels") {
                func start() -> VirtualTimer {
                    let object = Farewell(run)
                    return run.clock.schedule(after: .seconds(1)) { withExtendedLifetime(object) {} }
                }
                start().cancel()
            }
        }
        #expect(report.holds, "\(report)")
        let endless = await explore("a timer that sets itself again", by: Explorer().with(\.maximumSchedules, 10)) {
            run in
            run.operation("starts it") {
                let object = Farewell(run)
                @Sendable func tick() {
                    run.clock.schedule(after: .seconds(1)) { withExtendedLifetime(object) { tick() } }
                }
                tick()
            }
        }
        #expect(endless.holds, "\(endless)")
    }

    @Test
    func `that is the last of all is watched as well, also where tasks may wait, and the search was not complete then`()
        async
    {
        let runs = Protected(0)
        let scenario = Scenario("late in the last schedule") { run in
            run.permitUnfinishedTasks()
            run.operation("caller") {}
            run.invariant("comes last") {
                let number = runs.next()
                // The only schedule, and then the same one until there are 32.
                if number == 32 {
                    elsewhere { run.effect("elsewhere") }
                }
                return true
            }
        }
        let report = await Explorer().explore(scenario)
        #expect(report.failure?.kind == .escape, "\(report)")
        #expect(report.failure?.message.contains("elsewhere") == true)
        #expect(!report.isComplete)
    }

    @Test(.endsHangs)
    func `by a failure leaves the rest to itself: what it does later is no escape`() async {
        let former = Protected<(run: ScheduledRun, server: OutsideServer)?>(nil)
        let hasEnded = DispatchSemaphore(value: 0)
        let report = await explore("what is left") { run in
            if let last = former.withLock({ $0 }) {
                elsewhere {
                    last.run.effect("too late")
                    last.server.answer()
                }
                // The task goes its way, elsewhere.
                hasEnded.wait()
            }
            run.operation("caller") {
                let server = OutsideServer()
                former.withLock { $0 = (run, server) }
                await server.load()
                hasEnded.signal()
            }
            run.always("is broken") { former.withLock { $0?.run !== run } }
        }
        #expect(report.failure?.kind == .brokenInvariant, "\(report)")
        former.withLock { $0?.server.answer() }
        former.withLock { $0 = nil }
    }

    @Test func `lets go of all that the setup has made`() async {
        final class Made: Sendable {}
        let all = Protected<[WeakReference<Made>]>([])
        let report = await explore("an object") { run in
            let made = Made()
            all.withLock { $0.append(WeakReference(made)) }
            run.operation("first") {
                run.effect("first")
                withExtendedLifetime(made) {}
            }
            run.operation("second") { run.effect("second") }
            // The run has the condition, and the condition the run.
            run.invariant("is there") {
                run.effects.count == 2 && all.withLock { $0.compactMap(\.object).map { $0 === made } } == [true]
            }
        }
        #expect(report.holds && report.schedules == 2, "\(report)")
        #expect(all.withLock { $0.allSatisfy { $0.object == nil } })
    }

    @Test func `is a livelock one step later than permitted, and not before`() async {
        let scenario = Scenario("some steps") { run in
            run.operation("first") { for _ in 1...5 { await run.pause("next") } }
        }
        var explorer = Explorer()
        explorer.maximumSteps = await explorer.explore(scenario).longestSchedule
        #expect(await explorer.explore(scenario).holds)
        explorer.maximumSteps -= 1
        #expect(await explorer.explore(scenario).failure?.kind == .livelock)
    }

    /// Searches by all its parts, the later of which begin early.
    private static func impatient(_ explorer: Explorer = Explorer()) -> Explorer {
        explorer.with(\.maximumSteps, 20).with(\.runsBeforeShortcuts, 100).with(\.randomSchedules, 100)
            .with(\.maximumSchedules, 350)
    }

    private static let remark = """
        Some schedules had more than 20 steps, or points in one step, and came to their ends in first-in-first-out \
        order.
        """

    @Test(arguments: [Explorer(), Explorer(.exhaustive), Explorer(.random(seed: 1, schedules: 40))])
    func `is no livelock of a task that polls, where another task never gets its turn`(_ explorer: Explorer) async {
        let explorer = explorer.with(\.maximumSteps, 20).with(\.maximumSchedules, 1_100)
        let report = await explore("a task that polls", by: explorer) { run in
            let isReady = Protected(false)
            run.operation("poller") {
                while !run.effect("looks", { isReady.withLock { $0 } }) { await Task.yield() }
            }
            run.operation("other") { run.effect("is ready") { isReady.withLock { $0 = true } } }
        }
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.remarks.contains(Self.remark), "\(report)")
    }

    @Test(arguments: [Explorer(), Explorer(.exhaustive), Explorer(.random(seed: 1, schedules: 40))])
    func `comes also where a step spins, since the others have their turn`(_ explorer: Explorer) async {
        let report = await explore("a step that spins", by: Self.impatient(explorer)) { run in
            let isReady = Protected(false)
            run.operation("spinner") { while !run.effect("looks", { isReady.withLock { $0 } }) {} }
            run.operation("third") { run.effect("looks once") {} }
            run.operation("other") { run.effect("is ready") { isReady.withLock { $0 = true } } }
        }
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.remarks.contains(Self.remark), "\(report)")
    }

    @Test(arguments: [true, false])
    func `comes also where a step spins until the time has passed, or another step has failed`(fails: Bool) async {
        let report = await explore("waits for a time", by: Self.impatient()) { run in
            run.operation("spinner") { while run.clock.now.offset < .seconds(1) {} }
            run.clock.schedule(after: .seconds(1)) {}
            run.step("a step") { run.effect("happens") {} }
            run.always("nothing happens") { !fails || run.effects.isEmpty }
        }
        #expect(report.failure?.kind == (fails ? .brokenInvariant : nil), "\(report)")
    }

    #if os(Linux)
    /// Elsewhere looks at cancellation do not show.
    @Test func `comes also where a step spins until it is cancelled`() async {
        let report = await explore("works on", by: Self.impatient()) { run in
            let spinner = run.operation("spinner") { while !Task.isCancelled {} }
            for name in ["first", "second"] { run.operation(name) { run.effect(name) {} } }
            run.step(cancelling: spinner)
        }
        #expect(report.holds && !report.isComplete, "\(report)")
    }
    #endif

    @Test(arguments: [20, 21])
    func `is a livelock of a step with more points than steps are permitted, where nothing else can run`(
        points: Int
    ) async {
        let report = await explore("marks", by: Self.impatient()) { run in
            run.operation("only one") { for _ in 1...points { run.effect("again") {} } }
        }
        #expect(report.failure?.kind == (points > 20 ? .livelock : nil), "\(report)")
    }

    @Test(arguments: [false, true])
    func `is an escape if all have gone on without the one who was away`(isPlain: Bool) async {
        for round in 1...5 {
            let report = await explore("a load that nobody waits for", by: Explorer().with(\.patience, .seconds(300))) {
                run in
                let server = OutsideServer()
                run.operation("caller") {
                    if isPlain {
                        Task { await server.load() }
                    } else {
                        Task(executorPreference: run.executor) { await server.load() }
                    }
                }
                run.invariant("comes last") {
                    DispatchQueue.global().async { server.answer() }
                    return true
                }
            }
            #expect(report.failure?.kind == .escape, "round \(round): \(report)")
            #expect(report.failure?.message.contains("caller/1") == true, "\(report)")
            #expect(report.failure?.message.contains("run.control(queue)") == true, "\(report)")
        }
    }

    @Test func `is no escape of tasks that have ended, or that wait for a timer of the run`() async {
        let report = await explore("ended tasks", by: Explorer().with(\.maximumSchedules, 200)) { run in
            run.operation("caller") {
                Task(executorPreference: run.executor) { try await run.clock.sleep(for: .seconds(10)) }
                async let child: Void = run.pause("child")
                let task = Task { await Task.yield() }
                await task.value
                await child
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await Task.yield() }
                }
            }
        }
        #expect(report.holds, "\(report)")
    }

    @Test func `is no wait of a task that has ended, and whose handle outlives the run`() async {
        let handles = Protected<[Task<Void, Never>]>([])
        let report = await explore("a registry of tasks") { run in
            run.operation("caller") {
                let task = Task { run.effect("works") }
                handles.withLock { $0.append(task) }
            }
        }
        #expect(report.holds, "\(report)")
    }

    #if os(macOS) || os(Linux)
    @Test func `is watched also after the report, which is wrong then: standard error tells it`() async throws {
        let result = try await #require(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            let last = Protected<ScheduledRun?>(nil)
            let report = await explore("it is over") { run in
                last.withLock { $0 = run }
                run.operation("caller") {}
            }
            precondition(report.holds)
            last.withLock { $0 }?.effect("too late")
        }
        let complaint = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(complaint.contains("it is over"))
        #expect(complaint.contains("too late"))
    }
    #endif
}
