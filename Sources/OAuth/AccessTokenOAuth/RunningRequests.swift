import AccessTokenSynchronization

/// The requests of one session, or one store, that are under way: it can cancel its own and no others.
final class RunningRequests: Sendable {
    private let cancellations = Locked<[ObjectIdentifier: Latch]>([:])

    var count: Int { cancellations.withLock { $0.count } }

    func begin() -> Latch {
        let cancellation = Latch()
        cancellations.withLock { $0[ObjectIdentifier(cancellation)] = cancellation }
        return cancellation
    }

    func end(_ cancellation: Latch) {
        // Its actions are released outside of the lock.
        _ = cancellations.withLock { $0.removeValue(forKey: ObjectIdentifier(cancellation)) }
    }

    func cancelAll() {
        for cancellation in cancellations.withLock({ Array($0.values) }) { cancellation.fire() }
    }
}
