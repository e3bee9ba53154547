package import AccessTokenCore
import Dispatch
package import Foundation

/// Seconds since a moment, by a clock that is never set.
package struct Stopwatch: Sendable {
    private let start = DispatchTime.now().uptimeNanoseconds

    package init() {}

    package var seconds: TimeInterval { TimeInterval(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000_000 }
}

/// Mutual exclusion for tasks, in the order in which they came.
///
/// A task that waits holds no thread.
package final class AsyncMutex: Sendable {
    private let waitLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let queue = TimedWaiters<Bool, Result<Void, any Error>>(false)

    package init(waitLimit: TimeInterval, clock: any AccessTokenClock) {
        self.waitLimit = waitLimit
        self.clock = clock
    }

    /// Waits until no other task holds the mutex; each call that returns needs an ``unlock()``.
    ///
    /// - Throws: ``CredentialStoreError/busy`` after the wait limit; `CancellationError` if the task is cancelled.
    package func lock() async throws {
        let outcome = await queue.outcome(
            atMost: waitLimit,
            by: clock,
            timedOut: .failure(CredentialStoreError.busy),
            cancelled: .failure(CancellationError())
        ) { isLocked in
            defer { isLocked = true }
            return isLocked ? nil : .success(())
        }
        try outcome.get()
    }

    /// Hands the mutex to the task that has waited longest, or opens it.
    package func unlock() {
        let next = queue.withLock { isLocked, waiters in
            isLocked = !waiters.isEmpty
            return isLocked ? waiters.removeFirst() : nil
        }
        next?.end(with: .success(()))
    }
}
