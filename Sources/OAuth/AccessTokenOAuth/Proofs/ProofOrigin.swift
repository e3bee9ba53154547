import AccessTokenSynchronization
import Foundation

/// What one server has said of proofs, and the requests with proofs that are on their way to it.
final class ProofOrigin: Sendable {
    /// The server's words, as far as the next proofs need them.
    struct Known: Hashable, Sendable {
        var nonce: String?
        /// Seconds by which the server's clock is ahead.
        var clockOffset: TimeInterval = 0
    }

    /// A request's place among those that are on their way; free again when it ends, or goes.
    final class Turn: Sendable {
        let origin: ProofOrigin
        private let isOver = Locked(false)

        fileprivate init(_ origin: ProofOrigin) { self.origin = origin }

        deinit { end(.other) }

        /// See ``ProofWindow/send()``.
        func send() -> Int? { origin.line.withLock { state, _ in state.window.send() } }

        /// See ``ProofWindow/isAlone(since:)``.
        func isAlone(since number: Int?) -> Bool {
            origin.line.withLock { state, _ in state.window.isAlone(since: number) }
        }

        /// Lets the next request go; only the first call counts.
        func end(_ end: ProofWindow.End) {
            let wasOver = isOver.withLock { isOver in
                defer { isOver = true }
                return isOver
            }
            if !wasOver { origin.leave(end) }
        }
    }

    private struct State: Sendable {
        var known = Known()
        var window = ProofWindow()
    }

    private let line = TimedWaiters<State, Result<Void, any Error>>(State())

    var known: Known { line.withLock { state, _ in state.known } }

    /// How many requests wait for others.
    var waiting: Int { line.withLock { _, waiters in waiters.count } }

    func keep(_ change: (inout Known) -> Void) {
        line.withLock { state, _ in change(&state.known) }
    }

    /// Waits until a request may be sent, in the order of the calls.
    ///
    /// - Parameters:
    ///   - limit: seconds after which the call throws ``OAuthError/unreachable(code:system:)``; `nil` waits on.
    ///   - clock: counts them.
    /// - Throws: also `CancellationError`, as soon as the task is cancelled.
    func turn(atMost limit: TimeInterval?, by clock: any AccessTokenClock) async throws -> Turn {
        try await line.outcome(
            atMost: limit,
            by: clock,
            timedOut: .failure(OAuthError.unreachable(code: URLError.Code.timedOut.rawValue)),
            cancelled: .failure(CancellationError())
        ) { state in
            state.window.enter() ? .success(()) : nil
        }.get()
        return Turn(self)
    }

    private func leave(_ end: ProofWindow.End) {
        let next = line.withLock { state, waiters in
            let count = state.window.leave(end, waiting: waiters.count)
            defer { waiters.removeFirst(count) }
            return waiters.prefix(count)
        }
        for waiter in next { waiter.end(with: .success(())) }
    }
}
