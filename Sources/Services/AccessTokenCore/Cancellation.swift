/// Cancels a call that may not have begun yet: a cancellation that comes too early is remembered until then.
package final class Cancellation: Sendable {
    private let state = Locked<(isCancelled: Bool, actions: [@Sendable () -> Void])>((false, []))

    package init() {}

    package func cancel() {
        let actions = state.withLock { state in
            defer { state = (true, []) }
            return state.actions
        }
        for action in actions { action() }
    }

    /// Calls `action` when this is cancelled: at once, if it is already.
    package func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.actions.append(action) }
            return state.isCancelled
        }
        if isCancelled { action() }
    }
}
