public import Foundation

/// The token that the state machine last published: what callers are given without a hop, on any thread.
@usableFromInline
package struct TokenSnapshot: ~Copyable, Sendable {
    @usableFromInline
    package let cached = Locked<CachedToken?>(nil)

    /// Whether each caller that is given a token is an event, which only the state machine reports.
    @usableFromInline
    package let reportsHits: Bool

    package init(reportsHits: Bool) {
        self.reportsHits = reportsHits
    }

    /// The token, if it is valid and nothing else has to be done about it.
    @inlinable
    package borrowing func freshToken(at now: Date) -> AccessToken? {
        guard !reportsHits else { return nil }
        return cached.withLock { cached in
            guard let cached, cached.isFresh(at: now) else { return nil }
            return cached.token
        }
    }

    /// The token, if it is valid.
    @inlinable
    package borrowing func usableToken(at now: Date) -> AccessToken? {
        cached.withLock { cached in
            guard let cached, cached.isUsable(at: now) else { return nil }
            return cached.token
        }
    }

    /// Changes the token and gives answers on their way as one step: whoever is answered sees the new token, and whoever
    /// sees the new token comes after those who waited for it.
    ///
    /// - Parameter answer: only enqueues; it runs under the lock.
    package borrowing func publish(_ token: CachedToken?, _ answer: () -> Void = {}) {
        cached.withLock { cached in
            cached = token
            answer()
        }
    }
}
