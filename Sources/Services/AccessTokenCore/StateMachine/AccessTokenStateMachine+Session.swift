package import AccessTokenFoundation

/// All that a service knows between a sign-in and the next sign-in or sign-out.
struct Session: Sendable {
    /// The token that came last; it may have expired.
    var token: CachedToken?

    /// The token that the next one replaces; while there is one, there is no `token`.
    ///
    /// It was rejected, or it had expired when a load began.
    var outdated: CachedToken?

    /// The load that is running, and whose answer counts.
    var load: CurrentLoad?
}

/// The current load of a service: the only one that may answer, cache or fail anybody (clause S3).
struct CurrentLoad: Sendable {
    let id: LoadID
    let startedAt: Date
    var priority: UInt8
    /// The loads inside which it runs, itself not among them.
    let enclosing: [LoadID]

    /// A good answer of an older load of this session, kept in case that this one fails (clause T2).
    var late: CachedToken?
}

extension AccessTokenStateMachine {
    // MARK: Sessions

    /// A session began, with this token or with one that has to be loaded; whatever an older session's load brings is ignored
    /// from now on (O2).
    ///
    /// Those who waited for a load of the former session are answered with the token. If there is none, or one that has
    /// expired, they go on to wait, for a load of this session.
    package mutating func signIn(_ token: AccessToken?, waiters: Int, at now: Date) -> CallerAction {
        let token = token.map { CachedToken($0, load: lastLoad, policy: policy, at: now) }
        let usable = token.flatMap { $0.isUsable(at: now) ? $0 : nil }
        report(.init(.signedIn, waiters: usable == nil ? 0 : waiters))
        guard let former = beginSession(Session(token: token)) else { return .wait }
        if let usable { return .answer(.success(usable.token)) }
        guard waiters > 0 else { return .wait }
        let caller = CallerContext(priority: former.priority, loads: former.enclosing)
        return .waitAndLoad(replaceToken(for: caller, at: now))
    }

    /// The session ended: its waiters are answered (O1), and so is everybody until the next sign-in (O3).
    ///
    /// - Returns: the answer to all waiters; `nil` if there was no load to be ended.
    package mutating func signOut(waiters: Int) -> LoadResult? {
        report(.init(.signedOut, waiters: waiters))
        return beginSession(nil).map { _ in .failure(AccessTokenError.signedOut) }
    }

    /// The loader did not say in time that it has forgotten the session.
    package mutating func signOutTimedOut() {
        report(.init(.signOutTimedOut))
    }

    /// Returns the load of the former session.
    private mutating func beginSession(_ session: Session?) -> CurrentLoad? {
        sessionEpoch += 1
        defer { self.session = session }
        return self.session?.load
    }
}
