import AccessTokenCore

/// One place for each key in the line of an endpoint, for all loads of one store.
///
/// A service whose load has waited for too long begins another one at its next call. Without this, a user's loads would
/// be in line many times, and all but one of them for nothing.
final class PlacesInLine: Sendable {
    private typealias Waiters = TimedWaiters<Set<String?>, Result<Bool, any Error>>

    private let queue = Waiters([])

    /// How many loads wait for a place to be left.
    var waiting: Int { queue.withLock { $1.count } }

    /// Takes the place, and returns true; or waits until somebody has left one, and returns false: look again then.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled.
    func take(_ key: String?) async throws -> Bool {
        try await queue.outcome(
            atMost: nil,
            by: SystemClock(),
            timedOut: .success(false),
            cancelled: .failure(CancellationError())
        ) { taken in
            taken.insert(key).inserted ? .success(true) : nil
        }.get()
    }

    func leave(_ key: String?) {
        let waiters = queue.withLock { taken, waiters in
            taken.remove(key)
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.end(with: .success(false)) }
    }
}
