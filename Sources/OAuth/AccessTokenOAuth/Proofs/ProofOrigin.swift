import AccessTokenSynchronization
import Foundation

/// What one server has said of proofs, and the requests with proofs that are on their way to it.
final class ProofOrigin: Sendable {
    /// The server's words, as far as the next proofs need them.
    struct Known: Hashable, Sendable {
        var nonce: String?
        /// Seconds by which the server's clock is ahead.
        var clockOffset: TimeInterval = 0
        /// Proofs of another HTTP client to which no reply has come.
        var unanswered = 0
        /// How many of them were made before the offset was set.
        private var older = 0

        /// Lost replies are counted for ever: there is an end to how many refusals they excuse.
        private static let mostOlder = 32

        /// Learns of a reply to one of the proofs that another HTTP client was given; nobody says to which.
        ///
        /// - Returns: whether another proof may help.
        mutating func learn(fromReplyToSomeProof reply: ProofReply) -> Bool {
            unanswered = max(0, unanswered - 1)
            if let nonce = reply.nonce { self.nonce = nonce }
            guard reply.refusal == .proof else { return reply.isWorthAnotherProof(after: clockOffset) }
            guard older == 0 else {
                older -= 1
                return true
            }
            let former = clockOffset
            // Where the server's own time has not helped, its `Date` is wrong, or the time is not what it minds.
            clockOffset = reply.isOff(from: former) ? reply.clockOffset ?? 0 : 0
            if clockOffset != former { older = min(unanswered, Self.mostOlder) }
            return reply.isWorthAnotherProof(after: former)
        }
    }

    /// A request's place among those that are on their way; free again when it ends, or goes.
    final class Turn: Sendable {
        let origin: ProofOrigin
        private let isOver = Locked(false)

        fileprivate init(_ origin: ProofOrigin) { self.origin = origin }

        deinit { end(.other) }

        /// See ``ProofWindow/isCrowded``.
        var isCrowded: Bool { origin.line.withLock { state, _ in state.window.isCrowded } }

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

    @discardableResult
    func keep<Result: Sendable>(_ change: (inout Known) -> Result) -> Result {
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
