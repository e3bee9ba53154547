#if Postgres
import AccessTokenCore
import CLibpq
import Dispatch

/// The wait for a row, which any thread may cancel until it is over.
///
/// A cancelled update never gets inside, and an update that is inside is never cancelled: no late request of ours can hit the
/// commit.
package final class PostgresWait: Sendable {
    private struct State {
        var isCancelled = false
        var isOver = false
        var canceller: PostgresCanceller?
    }

    /// Milliseconds between two requests: one that comes before the statement has no effect.
    private static let pause = 20

    private let state = Locked(State())

    /// A connection is open, on which the wait can be cancelled.
    func begins(with canceller: PostgresCanceller?) {
        state.withLock { $0.canceller = canceller }
    }

    /// Ends the wait, unless it is over; blocks no thread of the caller's.
    package func cancel() {
        let isWaiting = state.withLock { state in
            if !state.isOver { state.isCancelled = true }
            return !state.isOver
        }
        if isWaiting { request() }
    }

    /// Whether the wait was cancelled; from here on it cannot be any more.
    func ends() -> Bool {
        state.withLock { state in
            state.isOver = true
            return state.isCancelled
        }
    }

    private func request() {
        DispatchQueue.global().async {
            self.state.withLock { $0.isOver ? nil : $0.canceller }?.request()
            guard !self.state.withLock({ $0.isOver }) else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.pause)) { self.request() }
        }
    }
}

/// Asks a server to cancel what a connection waits for.
@safe final class PostgresCanceller: Sendable {
    // Safe: libpq lets any thread use the pointer, which does not change and is freed with this object.
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// - Parameter connection: of libpq, and open.
    init?(of connection: OpaquePointer) {
        guard let pointer = unsafe PQgetCancel(connection) else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe PQfreeCancel(pointer) }

    /// Sends the request over a connection of its own; blocks the thread for as long.
    func request() {
        var words = [CChar](repeating: 0, count: 256)
        let length = Int32(words.count)
        _ = unsafe PQcancel(pointer, &words, length)
    }
}
#endif
