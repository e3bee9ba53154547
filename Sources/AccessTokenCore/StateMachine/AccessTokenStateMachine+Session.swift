package import Foundation

extension AccessTokenStateMachine {
    // MARK: Rejection and sessions

    /// A server rejected a token.
    ///
    /// Only the current one counts: a late rejection of an older token must not throw away the token that replaced it
    /// (I2), and fifty rejections of one token cause one load (I3).
    package mutating func invalidate(_ rejected: AccessToken) {
        guard let cached = cachedToken, cached.token.value == rejected.value else {
            return report(.ignoredInvalidation)
        }
        if case .renewing(_, let flight) = state {
            state = .loading(flight)
        } else {
            state = .idle(replacing: cached.token)
        }
        report(.invalidated)
    }

    /// A session began with this token; whatever an older session's load brings is ignored from now on (O2).
    ///
    /// - Returns: the answer to all waiters; `nil` if there was no load to be ended.
    package mutating func signIn(_ token: AccessToken, waiters: Int, at now: Date) -> LoadResult? {
        report(.signedIn(waiters: waiters))
        let former = beginSession(with: .cached(CachedToken(token, load: lastLoad, policy: policy, at: now)))
        return former.map { _ in .success(token) }
    }

    /// A session began, and its first token has to be loaded.
    ///
    /// Those who waited for a load of the former session go on to wait, for a load of this one (O2).
    ///
    /// - Returns: the load of this session; `nil` if nobody waits.
    package mutating func signIn(waiters: Int, at now: Date) -> LoadStart? {
        report(.signedIn(waiters: 0))
        let former = beginSession(with: .idle(replacing: nil))
        guard let former, waiters > 0 else { return nil }
        let caller = CallerContext(priority: former.priority, loads: former.enclosing)
        let (flight, start) = startFlight(for: caller, replacing: nil, at: now)
        state = .loading(flight)
        report(.loadStarted(load: flight.id.number))
        return start
    }

    /// The session ended: its waiters are answered (O1), and so is everybody until the next sign-in (O3).
    ///
    /// - Returns: the answer to all waiters; `nil` if there was no load to be ended.
    package mutating func signOut(waiters: Int) -> LoadResult? {
        report(.signedOut(waiters: waiters))
        let former = beginSession(with: .signedOut)
        return former.map { _ in .failure(AccessTokenError.signedOut) }
    }

    /// Returns the load of the former session.
    private mutating func beginSession(with state: TokenState) -> Flight? {
        sessionEpoch += 1
        defer { self.state = state }
        return self.state.flight
    }
}
