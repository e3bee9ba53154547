import AccessTokenCore

/// Ends one request, whatever it waits for at the time.
final class Cancellation: Sendable {
    /// `nil` once it was cancelled.
    private let actions = Locked<[@Sendable () -> Void]?>([])

    /// Says what else a cancellation does; does it at once if the cancellation has come before.
    func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = actions.withLock { actions in
            actions?.append(action)
            return actions == nil
        }
        if isCancelled { action() }
    }

    func cancel() {
        for action in actions.withLock({ $0.take() }) ?? [] { action() }
    }
}

/// The requests of a session that are under way: the session can cancel its own and no others.
final class RunningRequests: Sendable {
    private let cancellations = Locked<[ObjectIdentifier: Cancellation]>([:])

    var count: Int { cancellations.withLock { $0.count } }

    func begin() -> Cancellation {
        let cancellation = Cancellation()
        cancellations.withLock { $0[ObjectIdentifier(cancellation)] = cancellation }
        return cancellation
    }

    func end(_ cancellation: Cancellation) {
        // Its actions are released outside of the lock.
        _ = cancellations.withLock { $0.removeValue(forKey: ObjectIdentifier(cancellation)) }
    }

    func cancelAll() {
        for cancellation in cancellations.withLock({ Array($0.values) }) { cancellation.cancel() }
    }
}
