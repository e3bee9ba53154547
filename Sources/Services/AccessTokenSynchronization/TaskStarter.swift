/// Starts a task of a service's own, which has nothing of the task that happens to start it.
///
/// It stands for the executor that a service may be given, which Apple's platforms know from iOS 18 on. All tasks have
/// one high priority: nobody waits behind a caller that is in no hurry.
package struct TaskStarter: Sendable {
    package typealias Operation = @Sendable @concurrent () async -> Void

    /// A class: a service that has no executor is as small as it can be.
    private final class Executor: Sendable {
        let start: @Sendable (@escaping Operation) -> Task<Void, Never>
        let run: @Sendable @concurrent (_ part: Operation) async -> Void

        init(
            start: @escaping @Sendable (@escaping Operation) -> Task<Void, Never>,
            run: @escaping @Sendable @concurrent (_ part: Operation) async -> Void
        ) {
            (self.start, self.run) = (start, run)
        }
    }

    /// `nil` is the global pool.
    private let executor: Executor?

    /// Starts tasks in the global pool.
    package init() { executor = nil }

    /// Starts tasks on an executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    package init(executor: any TaskExecutor) {
        self.executor = Executor {
            Task.detached(executorPreference: executor, priority: .high, operation: $0)
        } run: { part in
            await withTaskExecutorPreference(executor) { await part() }
        }
    }

    @discardableResult
    package func callAsFunction(_ operation: @escaping Operation) -> Task<Void, Never> {
        executor?.start(operation) ?? Task.detached(priority: .high, operation: operation)
    }

    /// Runs a part of the caller's task on the executor, and goes on in the global pool.
    ///
    /// A task that prefers an executor must not enter an actor if somebody may block that executor: an idle actor runs
    /// on the executor of the task that enters it, and nobody else gets in before that.
    @concurrent
    package func run<Value: Sendable>(_ part: @Sendable @concurrent () async -> Value) async -> Value? {
        guard let executor else { return await part() }
        let value = Locked<Value?>(nil)
        await executor.run {
            let new = await part()
            value.withLock { $0 = new }
        }
        return value.withLock { $0 }
    }
}
