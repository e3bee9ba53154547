/// What the state machine has to know of a caller.
package struct CallerContext: Sendable {
    /// The caller was cancelled already: it may have a token that is there, and start nothing (X3).
    package let isCancelled: Bool

    /// A load runs with the highest priority of its waiters.
    package let priority: UInt8

    /// The loads inside which the caller asks; a load that it starts is inside them too.
    package let loads: [LoadID]

    package init(isCancelled: Bool = false, priority: UInt8 = 0, loads: [LoadID] = []) {
        self.isCancelled = isCancelled
        self.priority = priority
        self.loads = loads
    }

    /// The present code as a caller, which may be a task or not.
    package static func present(isCancelled: Bool = false) -> CallerContext {
        CallerContext(
            isCancelled: isCancelled,
            priority: Task.currentPriority.rawValue,
            loads: LoadContext.currentLoads
        )
    }
}
