public import AccessTokenFoundation

/// A token with its deadlines.
///
/// The deadlines are computed once, when the token arrives. A retrieval only compares.
@usableFromInline
package struct CachedToken: Sendable {
    @usableFromInline package private(set) var token: AccessToken

    /// Number of the load that brought it, or of the last one before the sign-in that did.
    let load: Int

    /// Until then, exclusively, the token is handed out (clause C2).
    @usableFromInline package let usableUntil: Date

    /// Until then, exclusively, nothing else has to be done (clause C5).
    @usableFromInline package private(set) var freshUntil: Date

    /// When the token is handed out although it has expired, beginning with the first instant.
    ///
    /// The grace has a start, so that it ends if the wall clock is set back past the start. The start lies before the
    /// arrival, since a caller may have read the clock just before.
    @usableFromInline package private(set) var grace: (from: Date, until: Date)?

    init(_ token: AccessToken, load: Int, policy: AccessTokenPolicy, at now: Date) {
        self.token = token
        self.load = load
        guard let expiration = token.expiration else {
            usableUntil = .distantFuture
            freshUntil = .distantFuture
            return
        }
        // Half of what is left is the most that leeway, and then refresh-ahead, may use up (clause C4).
        let life = max(0, expiration.timeIntervalSince(now))
        let leeway = min(policy.leeway, life / 2)
        let ahead = min(policy.refreshAhead, (life - leeway) / 2)
        usableUntil = expiration.addingTimeInterval(-leeway)
        freshUntil = usableUntil.addingTimeInterval(-ahead)
    }

    /// Has an expired token handed out within these seconds of its arrival: otherwise every call would load another
    /// one.
    mutating func serveThoughExpired(within seconds: TimeInterval, of arrival: Date) {
        grace = (arrival - seconds, arrival + seconds)
    }

    /// Has the next load ahead of the expiration wait for a moment, because one has just failed.
    mutating func postponeRefreshAhead(until instant: Date) {
        freshUntil = max(freshUntil, min(instant, usableUntil))
    }

    /// The token as it is while its successor is loaded: nothing else has to be done about it.
    var withoutRefreshAhead: CachedToken {
        var token = self
        token.freshUntil = usableUntil
        return token
    }

    /// The same, of an equal token.
    func with(_ token: AccessToken?) -> CachedToken {
        var copy = self
        copy.token = token ?? self.token
        return copy
    }

    @inlinable
    package func isUsable(at now: Date) -> Bool { now < usableUntil || isInGrace(at: now) }

    @inlinable
    package func isFresh(at now: Date) -> Bool { now < freshUntil || isInGrace(at: now) }

    @usableFromInline
    func isInGrace(at now: Date) -> Bool {
        guard let grace else { return false }
        return grace.from <= now && now < grace.until
    }
}
