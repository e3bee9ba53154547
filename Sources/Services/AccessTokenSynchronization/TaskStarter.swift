/// Starts a task of a service's own, which has nothing of the task that happens to start it.
///
/// It stands for the executor that a service may be given, which Apple's platforms know from iOS 18 on. All tasks have
/// one high priority: nobody waits behind a caller that is in no hurry.
package struct TaskStarter: Sendable {
    private let start: @Sendable (@escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never>

    /// Starts tasks in the global pool.
    package init() {
        start = { Task.detached(priority: .high, operation: $0) }
    }

    /// Starts tasks on an executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    package init(executor: any TaskExecutor) {
        start = { Task.detached(executorPreference: executor, priority: .high, operation: $0) }
    }

    @discardableResult
    package func callAsFunction(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        start(operation)
    }
}
