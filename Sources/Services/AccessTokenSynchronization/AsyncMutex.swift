package import AccessTokenFoundation

/// Mutual exclusion for tasks, in the order in which they came.
///
/// A task that waits holds no thread.
package final class AsyncMutex: Sendable {
    private let waitLimit: TimeInterval?
    private let clock: any AccessTokenClock
    private let timedOut: any Error
    private let queue = TimedWaiters<Bool, Result<Bool, any Error>>(false)

    /// - Parameters:
    ///   - waitLimit: seconds that a task waits at most; `nil` lets it wait on.
    ///   - clock: counts them.
    ///   - timedOut: what ``lock()`` throws after them.
    package init(waitLimit: TimeInterval?, clock: any AccessTokenClock, timedOut: any Error) {
        self.waitLimit = waitLimit
        self.clock = clock
        self.timedOut = timedOut
    }

    /// How many tasks wait.
    package var waiting: Int { queue.withLock { _, waiters in waiters.count } }

    /// Waits until no other task holds the mutex; each call that returns needs an ``unlock()`` or a ``fail(_:)``.
    ///
    /// - Returns: whether another task held the mutex before.
    /// - Throws: what the mutex was created with, after the wait limit; what ``fail(_:)`` was called with;
    ///   `CancellationError` as soon as the task is cancelled.
    @discardableResult
    package func lock() async throws -> Bool {
        try await queue.outcome(
            atMost: waitLimit,
            by: clock,
            timedOut: .failure(timedOut),
            cancelled: .failure(CancellationError())
        ) { isLocked in
            defer { isLocked = true }
            return isLocked ? nil : .success(false)
        }.get()
    }

    /// Hands the mutex to the task that has waited longest, or opens it.
    package func unlock() {
        let next = queue.withLock { isLocked, waiters in
            isLocked = !waiters.isEmpty
            return isLocked ? waiters.removeFirst() : nil
        }
        next?.end(with: .success(true))
    }

    /// Opens the mutex, and tells all tasks that wait for it why none of them needs it.
    package func fail(_ error: any Error) {
        let waiters = queue.withLock { isLocked, waiters in
            isLocked = false
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.end(with: .failure(error)) }
    }
}
