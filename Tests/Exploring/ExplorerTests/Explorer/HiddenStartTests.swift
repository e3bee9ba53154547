import Dispatch
import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// The first stretch of a task that an actor starts for itself runs where nothing can be put in between.
@Suite("Where a task begins out of sight, a search", .takesTurnsToExplore, .endsHangs)
struct HiddenStartTests {
    enum Start: CaseIterable, Sendable {
        case plain, immediate
        case detached, preferred, nowhereElse

        var isHidden: Bool { self == .plain || self == .immediate }
    }

    @Sendable private static func begin(
        _ start: Start,
        thenAwaiting isAwaited: Bool,
        pausing pauses: Bool = false,
        others: Int = 1,
        in run: ScheduledRun
    ) -> @Sendable () async -> String {
        let starter = Starter(executor: run.executor) { if pauses { await run.pause("work") } }
        run.operation("start") { await starter.start(start, thenAwaiting: isAwaited) }
        for number in 1...others { run.operation("other \(number)") { await starter.add("other") } }
        run.permitUnfinishedTasks()
        return { await starter.log.joined(separator: " ") }
    }

    @Test(arguments: Start.allCases, [false, true])
    func `is not complete, unless each task's start is a choice`(_ start: Start, isAwaited: Bool) async {
        for pauses in [false, true] {
            let (_, report) = await outcomes(by: Explorer()) {
                Self.begin(start, thenAwaiting: isAwaited, pausing: pauses, in: $0)
            }
            #expect(report.holds, "\(report)")
            #expect(report.isComplete == !start.isHidden, "\(report)")
            #expect(report.omissions == (start.isHidden ? [.hiddenStarts] : []), "\(report)")
        }
    }

    @Test(
        arguments: [
            (false, ["other start task", "start other task", "start task other"]),
            (
                true,
                ["other start task end", "start other task end", "start task other end", "start task end other"]
            ),
        ] as [(Bool, Set<String>)]
    )
    func `tries the orders in which others are in line before the task, as real threads show them`(
        isAwaited: Bool,
        expected: Set<String>
    ) async {
        let (orders, report) = await outcomes(by: Explorer()) { Self.begin(.plain, thenAwaiting: isAwaited, in: $0) }
        #expect(report.holds, "\(report)")
        #expect(orders == expected)
    }

    @Test(arguments: [2, 60])
    func `tries no more schedules than it may, and names the hidden start, not the limit`(limit: Int) async throws {
        let explorer = Explorer().with(\.maximumSchedules, limit)
        let (_, report) = await outcomes(by: explorer) { Self.begin(.plain, thenAwaiting: true, others: 3, in: $0) }
        #expect(report.schedules + report.redundantRuns == limit)
        #expect(report.description.contains("there are more\n  There are more, since a task was started where"))
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.message.contains("start it with “Task.detached”") == true, "\(String(describing: failure))")
    }

    // On other systems the creator of such a task is not known.
    #if os(Linux)
    @Test(arguments: Start.allCases)
    func `names a task after the one that has created it, whoever wakes it, and says what the task does`(
        _ start: Start
    ) async {
        let scenario = Scenario("a task that waits for an answer") { run in
            let starter = Starter(executor: run.executor) {
                run.note("asks")
                await run.pause("answer")
                run.note("has the answer")
            }
            run.operation("caller") { await starter.start(start, thenAwaiting: true) }
        }
        let steps = await Explorer().replay("0", of: scenario).trace.steps
        let events = steps.flatMap { step in step.events.map { "\($0.participant) \($0.kind) \($0.text)" } }
            .filter { !$0.contains("enters") }
        #expect(
            events == [
                "caller starts caller/1", "caller/1 note asks", "scenario wakes caller/1",
                "caller/1 note has the answer", "caller/1 wakes caller", "caller ends ",
            ],
            "\(events)"
        )
    }

    @Test(arguments: Start.allCases)
    func `names the task that sleeps in real time, and says what to do`(_ start: Start) async throws {
        let report = await explore("a task that sleeps", by: Explorer().with(\.patience, .seconds(300))) { run in
            // In real time on purpose: that is what the explorer must notice.
            let starter = Starter(executor: run.executor) { try? await Task.sleep(for: .milliseconds(20)) }
            run.operation("caller") { await starter.start(start, thenAwaiting: true) }
            run.operation("bystander") { await starter.add("bystander") }
        }
        let message = try #require(report.failure?.message, "\(report)")
        #expect(message.hasPrefix("caller/1 was resumed by another thread: it sleeps by a clock of the system"))
    }
    #endif

    @Test func `is complete though other threads start tasks out of sight meanwhile`() async {
        let runs = Protected(0)
        let noise = Starter(executor: nil) {}
        let report = await explore("three tasks") { run in
            let number = runs.next()
            if number == 1 {
                Thread.detachNewThread {
                    // One after the other: no crowd of tasks is left for other tests to wait behind.
                    let isDone = DispatchSemaphore(value: 0)
                    while runs.withLock({ $0 < 4 }) {
                        Task {
                            await noise.task(.plain).value
                            isDone.signal()
                        }
                        isDone.wait()
                    }
                }
            }
            for name in ["a", "b", "c"] { run.operation(name) { run.effect(name) } }
        }
        #expect(report.holds && report.isComplete, "\(report)")
    }
}

private actor Starter {
    private(set) var log: [String] = []
    private let executor: (any TaskExecutor)?
    private let work: @Sendable () async -> Void

    init(executor: (any TaskExecutor)?, work: @escaping @Sendable () async -> Void) {
        self.executor = executor
        self.work = work
    }

    func add(_ entry: String) {
        log.append(entry)
    }

    func start(_ start: HiddenStartTests.Start, thenAwaiting isAwaited: Bool) async {
        log.append("start")
        let task = task(start)
        guard isAwaited else { return }
        await task.value
        log.append("end")
    }

    func task(_ start: HiddenStartTests.Start) -> Task<Void, Never> {
        switch start {
        case .plain: Task { await perform() }
        case .immediate: Task.immediate { await perform() }
        case .detached: Task.detached { await self.perform() }
        case .preferred: Task(executorPreference: executor) { await self.perform() }
        case .nowhereElse: Task { [work] in await work() }
        }
    }

    private func perform() async {
        log.append("task")
        await work()
    }
}
