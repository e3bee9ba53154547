package import Foundation

extension AccessTokenStateMachine {
    // MARK: Rejection and sessions

    /// A server rejected a token.
    ///
    /// Only the current one counts: a late rejection of an older token must not throw away the token that replaced it
    /// (I2), and fifty rejections of one token cause one load (I3).
    package mutating func invalidate(_ rejected: AccessToken) -> Action<Waiter> {
        var action = Action<Waiter>()
        guard let cached = cachedToken, cached.token.value == rejected.value else {
            report(.ignored(.invalidationOfOtherToken), in: &action)
            return action
        }
        if case .renewing(_, let flight) = state {
            state = .loading(flight)
        } else {
            state = .idle(replacing: cached.token)
        }
        report(.invalidated, in: &action)
        return action
    }

    /// A session began with this token; whatever an older session's load brings is ignored from now on (O2).
    package mutating func signIn(_ token: AccessToken, at now: Date) -> Action<Waiter> {
        var action = Action<Waiter>()
        report(.signedIn(waiters: waiters.count), in: &action)
        beginSession(with: .cached(CachedToken(token, load: lastLoad, policy: policy, at: now)))
        endFlight(answering: .success(token), in: &action)
        return action
    }

    /// The session ended: its waiters are answered (O1), and so is everybody until the next sign-in (O3).
    package mutating func signOut() -> Action<Waiter> {
        var action = Action<Waiter>()
        report(.signedOut(waiters: waiters.count), in: &action)
        beginSession(with: .signedOut)
        endFlight(answering: .failure(AccessTokenError.signedOut), in: &action)
        return action
    }

    private mutating func beginSession(with state: TokenState) {
        sessionEpoch += 1
        self.state = state
    }
}
