import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// A request that was sent and whose reply matters, also when no caller waits for it any more.
///
/// A deadline ends a wait and never the exchange. If the server rotated the refresh token, the late reply is the only
/// place where the new one is.
final class OutstandingExchange<Reply: Sendable>: Sendable {
    private struct State {
        var reply: Reply?
        /// The caller that starts an exchange is going to wait for it: a reply that is faster than that is not late.
        var hasBeenAwaited = false
        /// Whoever comes to wait is told at once.
        var isGivenUp = false
    }

    private let queue = TimedWaiters<State, Reply?>(State())
    private let onReply: @Sendable (Reply, _ isLate: Bool) -> Void

    /// - Parameter onReply: called with the reply before the waiters get it. The reply is late if no waiter is left.
    init(onReply: @escaping @Sendable (Reply, _ isLate: Bool) -> Void = { _, _ in }) {
        self.onReply = onReply
    }

    /// Answers those who wait, or come to wait, with `nil`: the reply will be late.
    func giveUp() {
        let waiters = queue.withLock { state, waiters in
            state.isGivenUp = true
            defer { waiters = [] }
            return waiters
        }
        for waiter in waiters { waiter.end(with: nil) }
    }

    /// Takes the reply; only the first one counts.
    func settle(_ reply: Reply) {
        let first = queue.withLock { state, waiters -> (waiters: [TimedWaiters<State, Reply?>.Waiter], isLate: Bool)? in
            guard state.reply == nil else { return nil }
            state.reply = reply
            defer { waiters = [] }
            return (waiters, state.hasBeenAwaited && waiters.isEmpty)
        }
        guard let first else { return }
        onReply(reply, first.isLate)
        for waiter in first.waiters { waiter.end(with: reply) }
    }

    /// The reply; `nil` if `seconds` pass before it is there, or if it is given up.
    func reply(within seconds: TimeInterval?, by clock: any AccessTokenClock) async -> Reply? {
        // What came while the process was stopped is read before the deadline passes.
        await queue.outcome(atMost: seconds, by: ServiceClock(clock), timedOut: nil) { state in
            state.hasBeenAwaited = true
            return state.reply.map { .some($0) } ?? (state.isGivenUp ? .some(nil) : nil)
        }
    }
}

/// What code of the app's own makes for one request, or finds; it may never come back.
func made<Value: Sendable>(
    within deadline: TimeInterval,
    by clock: any AccessTokenClock,
    orThrow timeout: @autoclosure () -> any Error = OAuthError.assertionTimedOut,
    _ make: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let made = await withCheckedContinuation { continuation in
        begin(make, within: deadline, by: clock) { continuation.resume(returning: $0) }
    }
    guard let made else { throw timeout() }
    return try made.get()
}

/// Calls the handler once: with what is made, or with `nil` when the deadline has passed.
///
/// Not inlined: a task would keep all of this in its frame while it waits.
@inline(never)
private func begin<Value: Sendable>(
    _ make: @escaping @Sendable () async throws -> Value,
    within deadline: TimeInterval,
    by clock: any AccessTokenClock,
    then handler: @escaping @Sendable (Result<Value, any Error>?) -> Void
) {
    let answer = OneShot(abandoned: nil, handler)
    let timer = ServiceClock(clock).schedule(after: deadline) { answer(nil) }
    Task {
        let made: Result<Value, any Error>
        do { made = .success(try await make()) } catch { made = .failure(error) }
        timer.cancel()
        answer(made)
    }
}
