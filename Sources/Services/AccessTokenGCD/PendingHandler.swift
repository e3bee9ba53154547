import AccessTokenCore

/// A caller that waits for a token.
package enum PendingHandler: Sendable {
    /// To be called on the handlers' queue.
    case queued(AccessTokenHandler)
    /// To be called directly, since it only wakes a task, which has no business on the handlers' queue.
    case direct(AccessTokenHandler)

    /// Has the handler called on its queue, if it is to be called there.
    func enqueue(_ result: LoadResult, on queue: any SerialQueue) {
        if case .queued(let handler) = self { queue.enqueue { handler(result) } }
    }

    /// Calls the handler if it is to be called on the handlers' queue, where this is.
    func callQueued(_ result: LoadResult) {
        if case .queued(let handler) = self { handler(result) }
    }

    /// Calls the handler if it is to be called directly.
    func callDirect(_ result: LoadResult) {
        if case .direct(let handler) = self { handler(result) }
    }
}

/// Handlers that were taken out, and the answer to all of them.
struct Answered: Sendable {
    let handlers: WaiterList<PendingHandler>
    let result: LoadResult

    func callQueued() { handlers.forEach { $0.callQueued(result) } }
    func callDirect() { handlers.forEach { $0.callDirect(result) } }
}
