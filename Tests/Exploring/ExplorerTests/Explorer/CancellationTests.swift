import InterleavingExplorer
import TestSupport
import Testing

/// What a task may do after it has looked whether it is cancelled, and before it hears of that.
@Suite("A look at cancellation", .takesTurnsToExplore, .endsHangs)
struct CancellationTests {
    private actor Store {
        private(set) var log: [String] = []

        func save(_ token: String) { log.append(token) }
        func clear() { log.append("clear") }
    }

    /// The ways to look that the language has.
    enum Look: CaseIterable, Sendable {
        case ofItself, throwing, atTheTask, ofUnsafeTask, inGroup, beforeChild

        /// Whether the task that runs is cancelled, or `task`, which is the same.
        func callAsFunction(_ task: Task<Void, Never>?) async -> Bool {
            switch self {
            case .ofItself: return Task.isCancelled
            case .throwing: return (try? Task.checkCancellation()) == nil
            case .atTheTask: return task?.isCancelled ?? false
            case .ofUnsafeTask: return unsafe withUnsafeCurrentTask { unsafe $0?.isCancelled ?? false }
            case .inGroup: return await withTaskGroup(of: Void.self) { $0.isCancelled }
            case .beforeChild:
                return await withTaskGroup(of: Void.self) { group in !group.addTaskUnlessCancelled {} }
            }
        }
    }

    @Test(arguments: Look.allCases)
    func `is a step: a late save comes behind a sign-out`(look: Look) async {
        let orders = await allOutcomes(by: Explorer()) { run in
            let store = Store()
            let own = Protected<Task<Void, Never>?>(nil)
            let task = Task(executorPreference: run.executor) {
                await run.pause("token")
                guard await !look(own.withLock { $0 }) else { return }
                await store.save("save")
            }
            own.withLock { $0 = task }
            run.operation("signs out") {
                task.cancel()
                await store.clear()
            }
            run.operation("waits") { await task.value }
            return { await store.log.joined(separator: " ") }
        }
        #expect(orders == ["clear", "save clear", "clear save"])
    }

    /// Who cancels a task cancels its children.
    @Test func `is a step of a child as well, where the scenario is to cancel the parent`() async {
        let orders = await allOutcomes { run in
            let parent = run.operation("parent") {
                await withTaskCancellationHandler {
                    async let child: Void = { if !Task.isCancelled { run.effect("save") {} } }()
                    await child
                } onCancel: {
                    run.effect("cancelled") {}
                }
            }
            run.step(cancelling: parent)
            return { run.effects.joined(separator: " ") }
        }
        #expect(orders == ["save", "save cancelled", "cancelled", "cancelled save"])
    }

    /// The ways to cancel that the language has.
    enum Cancellation: CaseIterable, Sendable {
        case ofTask, ofUnsafeTask, ofGroup
    }

    /// Between a cancellation and what follows it, the cancelled task may go on.
    @Test(arguments: Cancellation.allCases)
    func `is a step, and so is a cancellation`(way: Cancellation) async {
        let orders = await allOutcomes(by: Explorer()) { run in
            let store = Store()
            let save = { @Sendable in
                await run.pause("token")
                await store.save(Task.isCancelled ? "late" : "save")
            }
            run.operation("signs out") {
                switch way {
                case .ofTask:
                    let task = Task(executorPreference: run.executor) { await save() }
                    task.cancel()
                    await store.clear()
                    await task.value
                case .ofUnsafeTask:
                    async let child: Void = save()
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    await store.clear()
                    await child
                case .ofGroup:
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await save() }
                        group.cancelAll()
                        await store.clear()
                    }
                }
            }
            return { await store.log.joined(separator: " ") }
        }
        #expect(orders == ["clear save", "save clear", "late clear", "clear late"])
    }
}
