import InterleavingExplorer
import TestSupport
import Testing

/// What a task may do after it has looked whether it is cancelled, and before it hears of that.
@Suite("A look at cancellation", .eightAtATime, .endsHangs)
struct CancellationTests {
    private actor Store {
        private(set) var log: [String] = []

        func save(_ token: String) { log.append(token) }
        func clear() { log.append("clear") }
    }

    /// The ways to look that the language has.
    enum Look: CaseIterable, Sendable {
        case ofItself, throwing, atTheTask, inGroup, beforeChild

        /// Whether the task that runs is cancelled, or `task`, which is the same.
        func callAsFunction(_ task: Task<Void, Never>?) async -> Bool {
            switch self {
            case .ofItself: return Task.isCancelled
            case .throwing: return (try? Task.checkCancellation()) == nil
            case .atTheTask: return task?.isCancelled ?? false
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
}
