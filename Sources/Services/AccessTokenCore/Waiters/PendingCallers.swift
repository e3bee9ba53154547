import AccessTokenSynchronization

/// The callers of a service that wait for a load, in the order in which they came (D2): an array of handlers, and one
/// of tasks.
///
/// A lock guards the arrays. They change on the service's queue or actor, but for one case: while they are open, a
/// caller adds itself without it. Sixteen threads that enter one queue at once need 149 µs each, on Linux, and a task
/// that enters the actor to wait costs a third more than one that suspends where it is.
///
/// Open means that a load is under way and that the only decision there can be is to wait, whatever the time is. So
/// none has to be made. A decision about all who wait closes the arrays first.
package struct PendingCallers: ~Copyable, Sendable {
    private let waiters = Locked(Waiters())

    package init() {}

    // MARK: On any thread

    /// Adds a caller if the arrays are open, and returns its ID.
    package borrowing func appendIfOpen(_ waiter: Waiter) -> Waiter.ID? {
        waiters.withLockInACrowd { $0.isOpen ? $0.append(waiter) : nil }
    }

    // MARK: On the queue, or the actor

    package var count: Int { waiters.withLock { $0.count } }

    package borrowing func append(_ waiter: Waiter) -> Waiter.ID { waiters.withLock { $0.append(waiter) } }

    /// Takes one out, unless it has been taken already.
    package borrowing func take(_ id: Waiter.ID) -> Waiter? { waiters.withLock { $0.take(id) } }

    /// Takes all of them out, to be given this answer.
    package borrowing func takeAll(toAnswer result: LoadResult) -> Answer {
        waiters.withLock { $0.takeAll(toAnswer: result) }
    }

    package borrowing func open() { waiters.withLock { $0.isOpen = true } }

    /// Closes the arrays, and returns how many callers are in them.
    package borrowing func close() -> Int {
        waiters.withLock { waiters in
            waiters.isOpen = false
            return waiters.count
        }
    }
}
