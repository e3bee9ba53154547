import Dispatch
import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// The first stretch of a task that an actor starts for itself runs where nothing can be put in between.
@Suite("Where a task begins out of sight, a search", .eightAtATime, .timeLimit(.minutes(10)))
struct HiddenStartTests {
    enum Start: CaseIterable, Sendable {
        case plain, immediate
        case detached, preferred, nowhereElse

        var isHidden: Bool { self == .plain || self == .immediate }
    }

    private func report(
        _ start: Start,
        thenAwaiting isAwaited: Bool,
        pausing pauses: Bool = false
    ) async -> ExplorationReport {
        await explore("an actor and its task") { run in
            let starter = Starter(executor: run.executor) { if pauses { await run.pause("work") } }
            run.operation("start") {
                let task = await starter.start(start)
                if isAwaited { await task.value }
            }
            run.operation("other") { await starter.add("other") }
            run.permitUnfinishedTasks()
        }
    }

    @Test("is not complete, unless each task's start is a choice", arguments: Start.allCases, [false, true])
    func isIncomplete(_ start: Start, isAwaited: Bool) async {
        for pauses in [false, true] {
            let report = await report(start, thenAwaiting: isAwaited, pausing: pauses)
            #expect(report.holds, "\(report)")
            #expect(report.isComplete == !start.isHidden, "\(report)")
            #expect((report.omission != nil) == start.isHidden, "\(report)")
        }
    }

    enum Shape: CaseIterable, Sendable {
        case one, awaited

        /// What real threads show.
        var orders: Set<String> {
            switch self {
            case .one: ["other start task", "start other task", "start task other"]
            case .awaited:
                ["other start task end", "start other task end", "start task other end", "start task end other"]
            }
        }
    }

    @Sendable private static func begin(_ shape: Shape, others: Int, in run: ScenarioRun)
        -> @Sendable () async -> String
    {
        let starter = Starter(executor: nil) {}
        run.operation("start") { await starter.start(shape) }
        for number in 1...others { run.operation("other \(number)") { await starter.add("other") } }
        run.permitUnfinishedTasks()
        return { await starter.log.joined(separator: " ") }
    }

    @Test("tries the orders in which others are in line before the task", arguments: Shape.allCases)
    func triesOrders(_ shape: Shape) async {
        let (orders, report) = await outcomes(by: Explorer()) { Self.begin(shape, others: 1, in: $0) }
        #expect(report.holds, "\(report)")
        #expect(orders == shape.orders)
    }

    @Test("tries no more schedules than it may")
    func isLimited() async {
        let explorer = Explorer().with(\.maximumSchedules, 60)
        let (_, report) = await outcomes(by: explorer) { Self.begin(.awaited, others: 3, in: $0) }
        #expect(report.schedules + report.redundantRuns == 60)
        #expect(report.omission != nil)
    }

    @Test("names the hidden start, and not the limit, where both cut the search")
    func isCutAndHidden() async throws {
        let explorer = Explorer().with(\.maximumSchedules, 2)
        let (_, report) = await outcomes(by: explorer) { Self.begin(.awaited, others: 3, in: $0) }
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.message.contains("start it with “Task.detached”") == true, "\(String(describing: failure))")
    }

    @Test("says why, and fails its test")
    func says() async throws {
        let report = await report(.plain, thenAwaiting: false)
        #expect(report.description.contains("there are more\n  There are more, since a task was started where"))
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.kind == .incompleteSearch)
        #expect(failure?.message.contains("start it with “Task.detached”") == true, "\(String(describing: failure))")
        try report.verify(allowIncomplete: true)
    }

    @Test("is complete on an actor with a queue that the run controls")
    func controlledQueue() async {
        let report = await explore("an actor on a queue, and its task") { run in
            let starter = Pinned(run.queue("starter"))
            run.operation("start") { await starter.start() }
            run.operation("other") { await starter.add("other") }
            run.permitUnfinishedTasks()
        }
        #expect(report.holds && report.isComplete, "\(report)")
    }

    @Test("is complete though other threads start tasks out of sight meanwhile")
    func noise() async {
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
                            await noise.start(.plain).value
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

    func start(_ shape: HiddenStartTests.Shape) async {
        log.append("start")
        let task = Task { log.append("task") }
        guard shape == .awaited else { return }
        await task.value
        log.append("end")
    }

    func start(_ start: HiddenStartTests.Start) -> Task<Void, Never> {
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
        log.append("task")
    }
}
