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
    /// - Returns: `nil` if there was no load to be ended.
    package mutating func signIn<Waiter>(
        _ token: AccessToken,
        in waiters: inout WaiterList<Waiter>,
        at now: Date
    ) -> FlightEnd<Waiter>? {
        report(.signedIn(waiters: waiters.count))
        let former = beginSession(with: .cached(CachedToken(token, load: lastLoad, policy: policy, at: now)))
        return former.map { end($0, answering: .success(token), in: &waiters) }
    }

    /// A session began, and its first token has to be loaded.
    ///
    /// Those who waited for a load of the former session go on to wait, for a load of this one (O2).
    package mutating func signIn<Waiter>(in waiters: inout WaiterList<Waiter>, at now: Date) -> Succession {
        report(.signedIn(waiters: 0))
        let former = beginSession(with: .idle(replacing: nil))
        guard let former, waiters.count > 0 else { return Succession(ended: former?.id, start: nil) }
        let caller = CallerContext(priority: former.priority, loads: former.enclosing)
        let (flight, start) = startFlight(for: caller, replacing: nil, at: now)
        state = .loading(flight)
        report(.loadStarted(load: flight.id.number))
        return Succession(ended: former.id, start: start)
    }

    /// The session ended: its waiters are answered (O1), and so is everybody until the next sign-in (O3).
    ///
    /// - Returns: `nil` if there was no load to be ended.
    package mutating func signOut<Waiter>(in waiters: inout WaiterList<Waiter>) -> FlightEnd<Waiter>? {
        report(.signedOut(waiters: waiters.count))
        let former = beginSession(with: .signedOut)
        return former.map { end($0, answering: .failure(AccessTokenError.signedOut), in: &waiters) }
    }

    /// Returns the load of the former session.
    private mutating func beginSession(with state: TokenState) -> Flight? {
        sessionEpoch += 1
        defer { self.state = state }
        return self.state.flight
    }
}
