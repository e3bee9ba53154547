import InterleavingExplorer

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An actor with a log that shows in which order it was entered.
private actor Log {
    private(set) var entries: [Int] = []

    func add(_ number: Int) -> [Int] {
        entries.append(number)
        return [-1] + entries
    }

    func add(_ number: Int, cancelling task: Task<Void, Never>?) -> [Int] {
        task?.cancel()
        return add(number)
    }

    /// Appends before and after something else that is done inside, and observes what that has seen.
    func visit(_ number: Int, _ body: @Sendable () async -> [Int]) async -> [Int] {
        entries.append(number)
        let seen = await body()
        entries.append(number)
        return seen + [-1] + entries
    }
}

/// A program as real code, for one run of the explorer, or on the threads of the process.
final class ProgramRunner: Sendable {
    private struct State: Sendable {
        var history: [Int] = []
        var seen: [Int: [Int]] = [:]
        var tasks: [Int: Task<Void, Never>] = [:]
        var isOpen = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let program: Program
    /// `nil` on threads.
    private let run: ScheduledRun?
    private let logs = (0..<Program.actors).map { _ in Log() }
    private let state = Protected(State())

    private init(_ program: Program, _ run: ScheduledRun?) {
        self.program = program
        self.run = run
    }

    /// What the program comes to in a run of the explorer.
    static func explore(_ program: Program, in run: ScheduledRun) -> @Sendable () async -> String {
        let runner = ProgramRunner(program, run)
        runner.begin(in: run)
        return { await runner.outcome }
    }

    /// What the program comes to on threads, whose order is a matter of chance.
    static func runOnThreads(_ program: Program) async -> String {
        let runner = ProgramRunner(program, nil)
        let operations = program.operations.enumerated().map { index, statements in
            let priority = program.priorities.isEmpty ? nil : program.priorities[index]
            return Task.detached(priority: priority) { await runner.perform(statements) }
        }
        if program.cancelsFirst { operations.first?.cancel() }
        for operation in operations { await operation.value }
        // A task may have started others, which nobody has awaited.
        var ended = 0
        while case let tasks = runner.state.withLock({ Array($0.tasks.values) }), tasks.count > ended {
            for task in tasks { await task.value }
            ended = tasks.count
        }
        return await runner.outcome
    }

    private func begin(in run: ScheduledRun) {
        var first: ScenarioOperation<Void>?
        for (index, statements) in program.operations.enumerated() {
            let priority = program.priorities.isEmpty ? nil : program.priorities[index]
            let operation = run.operation("\(index)", priority: priority) { await self.perform(statements) }
            first = first ?? operation
        }
        if program.cancelsFirst, let first {
            run.step(cancelling: first)
        }
        run.permitUnfinishedTasks()
    }

    private var outcome: String {
        get async {
            var logs: [[Int]] = []
            for log in self.logs { logs.append(await log.entries) }
            let (history, seen) = state.withLock { ($0.history, $0.seen) }
            return Program.outcome(logs: logs, history: history, seen: seen)
        }
    }

    private func observe(_ number: Int, _ seen: [Int]) {
        state.withLock { $0.seen[number, default: []] += seen }
    }

    private func perform(_ statements: [Program.Statement]) async {
        for statement in statements {
            if run == nil, Bool.random() { sched_yield() }
            if case .guardAndAdd(let number, _) = statement, Self.isCancelled(number) { return }
            await perform(statement)
        }
    }

    /// Looks whether the task is cancelled, in one of the ways that the language has.
    private static func isCancelled(_ number: Int) -> Bool {
        switch number % 3 {
        case 0: Task.isCancelled
        case 1: (try? Task.checkCancellation()) == nil
        default: unsafe withUnsafeCurrentTask { unsafe $0?.isCancelled ?? false }
        }
    }

    private func perform(_ statement: Program.Statement) async {
        switch statement {
        case .add(let number, let actor): observe(number, await logs[actor].add(number))
        case .addTwice(let number, let actor): await visit(actor, number) { await Task.yield() }
        case .pass(let number, let first, let second):
            observe(number, await logs[first].visit(number) { await self.logs[second].add(number) })
        case .mark(let number): mark(number)
        case .spawn(let number, let kind, let body):
            let task =
                switch kind {
                case .preferred: Task(executorPreference: run?.executor) { await self.perform(body) }
                case .plain: Task { await self.perform(body) }
                case .detached: Task.detached { await self.perform(body) }
                }
            state.withLock { $0.tasks[number] = task }
        case .await(let number): await state.withLock { $0.tasks[number] }?.value
        case .child(_, let body, let meanwhile):
            async let child: Void = perform(body)
            await perform(meanwhile)
            await child
        case .childLeft(let number, let body, let actor):
            func scope() async {
                async let _: Void = perform(body)
                observe(number, await logs[actor].add(number))
            }
            await scope()
        case .group(let number, let first, let second):
            await withTaskGroup(of: Int.self) { group in
                for (index, body) in [first, second].enumerated() {
                    group.addTask {
                        await self.perform(body)
                        return index
                    }
                }
                for await index in group { observe(number, [index]) }
            }
        case .wait: await wait()
        case .open: open()
        case .waitInside(let number, let actor): await visit(actor, number) { await self.wait() }
        case .openInside(let number, let actor): await visit(actor, number) { self.open() }
        case .cancel(let number):
            let task = state.withLock { $0.tasks[number] }
            task?.cancel()
        case .cancelInside(let number, let spawn, let actor):
            let task = state.withLock { $0.tasks[spawn] }
            observe(number, await logs[actor].add(number, cancelling: task))
        case .look(let number): observe(number, [Self.isCancelled(number) ? 1 : 0])
        case .lookAt(let number, let spawn):
            let task = state.withLock { $0.tasks[spawn] }
            observe(number, [task?.isCancelled == true ? 1 : 0])
        case .guardAndAdd(let number, let actor): observe(number, await logs[actor].add(number))
        case .handle(let number, let actor):
            await withTaskCancellationHandler {
                observe(number, await logs[actor].add(number))
            } onCancel: {
                // The call may not have written down yet what it has seen.
                mark(-number)
            }
        case .yield: await Task.yield()
        }
    }

    private func effect<Value>(_ name: String, _ body: () -> Value) -> Value {
        run?.effect(name, body) ?? body()
    }

    private func mark(_ number: Int) {
        effect("\(number)") {
            state.withLock { state in
                state.history.append(number)
                state.seen[number, default: []] += state.history
            }
        }
    }

    private func visit(_ actor: Int, _ number: Int, _ body: @escaping @Sendable () async -> Void) async {
        let seen = await logs[actor].visit(number) {
            await body()
            return []
        }
        observe(number, seen)
    }

    private nonisolated(nonsending) func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = effect("wait") {
                state.withLock { state in
                    if !state.isOpen { state.waiter = continuation }
                    return state.isOpen
                }
            }
            if isOpen { continuation.resume() }
        }
    }

    private func open() {
        let waiter = effect("open") {
            state.withLock { state in
                state.isOpen = true
                defer { state.waiter = nil }
                return state.waiter
            }
        }
        waiter?.resume()
    }
}
