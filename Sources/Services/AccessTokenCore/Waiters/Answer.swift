import AccessTokenSynchronization

/// Callers that have to be answered, and what with.
///
/// A class, since its handlers are to be released where they are called: what a handler captures may belong to that
/// queue.
package final class Answer: Sendable {
    private let handlers: Locked<WaiterList<Waiter.Handler>>
    private let tasks: WaiterList<Suspension>
    private let result: LoadResult

    package let hasHandlers: Bool

    init(
        to handlers: consuming WaiterList<Waiter.Handler>,
        _ tasks: WaiterList<Suspension>,
        _ result: LoadResult
    ) {
        hasHandlers = handlers.count > 0
        self.handlers = Locked(handlers)
        self.tasks = tasks
        self.result = result
    }

    package convenience init(to waiter: Waiter, _ result: LoadResult) {
        var (handlers, tasks) = (WaiterList<Waiter.Handler>(), WaiterList<Suspension>())
        switch waiter {
        case .handler(let handler): handlers.append(handler, as: 0)
        case .task(let suspension): tasks.append(suspension, as: 0)
        }
        self.init(to: handlers, tasks, result)
    }

    /// Calls the handlers, once, in the order in which they came, and releases them.
    package func callHandlers() {
        handlers.withLock { $0.takeAll() }.forEach { $0.call(result) }
    }

    /// Resumes the tasks, which must be done once, in the order in which they came.
    package func resumeTasks() {
        tasks.forEach { $0.resume(with: result) }
    }
}
