import AccessTokenCore
import AccessTokenSynchronization

/// The callers of an ``AccessTokenService`` that wait for a load, in the order in which they came (D2): an array of
/// handlers, and one of tasks that wait by an adapter.
///
/// A lock guards the arrays. They change on the service's queue, but for one case: while they are open, a caller adds
/// itself without the queue, since sixteen threads that enter one queue at once need 149 µs each, on Linux.
///
/// Open means that a load is under way and that the only decision there can be is to wait, whatever the time is. So
/// none has to be made. A decision about all who wait closes the arrays first.
struct PendingHandlers: ~Copyable, Sendable {
    struct State: Sendable {
        var waiters = Waiters()
        var isOpen = false
    }

    private let state = Locked(State())

    // MARK: On any thread

    /// Adds a caller if the arrays are open, and returns its ID.
    borrowing func appendIfOpen(_ waiter: Waiter) -> Waiter.ID? {
        state.withLockInACrowd { $0.isOpen ? $0.waiters.append(waiter) : nil }
    }

    // MARK: On the queue

    var count: Int { state.withLock { $0.waiters.count } }

    borrowing func append(_ waiter: Waiter) -> Waiter.ID { state.withLock { $0.waiters.append(waiter) } }

    /// Takes one out, unless it has been taken already.
    borrowing func take(_ id: Waiter.ID) -> Waiter? { state.withLock { $0.waiters.take(id) } }

    /// Takes all of them out, to be given this answer.
    borrowing func takeAll(toAnswer result: LoadResult) -> Answer {
        state.withLock { $0.waiters.takeAll(toAnswer: result) }
    }

    borrowing func open() { state.withLock { $0.isOpen = true } }

    /// Closes the arrays, and returns how many callers are in them.
    borrowing func close() -> Int {
        state.withLock { state in
            state.isOpen = false
            return state.waiters.count
        }
    }
}
