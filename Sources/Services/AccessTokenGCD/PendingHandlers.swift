import AccessTokenCore
import AccessTokenSynchronization

/// The callers of an ``AccessTokenService`` that wait for a load, in the order in which they came (D2): an array of
/// handlers, and one of tasks that wait by an adapter.
///
/// The service's queue guards the array. While the array is open, a caller may add itself without the queue: sixteen
/// threads that enter one queue at once need 149 µs each, on Linux.
///
/// The service opens the array at the end of a decision after which every caller has to wait, whatever the time is. So
/// a caller that adds itself has its decision. A decision about all who wait closes the array first.
struct PendingHandlers: ~Copyable, Sendable {
    struct State: Sendable {
        var waiters = Waiters()
        var isOpen = false
    }

    private let state = Locked(State())

    // MARK: On any thread

    /// Adds a caller if the array is open, and returns its name.
    borrowing func join(_ waiter: Waiter) -> Waiter.ID? {
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

    /// Closes the array, and returns how many are in it.
    borrowing func close() -> Int {
        state.withLock { state in
            state.isOpen = false
            return state.waiters.count
        }
    }
}
