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

    /// A session began, with this token or with one that has to be loaded; whatever an older session's load brings is ignored
    /// from now on (O2).
    ///
    /// Those who waited for a load of the former session are answered with the token. If there is none, or one that has
    /// expired, they go on to wait, for a load of this session.
    package mutating func signIn(_ token: AccessToken?, waiters: Int, at now: Date) -> Retrieval {
        let cached = token.map { CachedToken($0, load: lastLoad, policy: policy, at: now) }
        let answer = cached.flatMap { $0.isUsable(at: now) ? LoadResult.success($0.token) : nil }
        report(.signedIn(waiters: answer == nil ? 0 : waiters))
        let former = beginSession(with: cached.map { .cached($0) } ?? .idle(replacing: nil))
        guard let former, answer == nil, waiters > 0 else { return Retrieval(answer: former.flatMap { _ in answer }) }
        let caller = CallerContext(priority: former.priority, loads: former.enclosing)
        return lead(caller, replacing: token, at: now)
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
