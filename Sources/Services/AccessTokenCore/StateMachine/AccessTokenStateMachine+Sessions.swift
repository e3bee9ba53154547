package import AccessTokenFoundation

extension AccessTokenStateMachine {
    // MARK: The beginning of a session

    package enum SignInAction: Sendable {
        case nothing
        /// Answer all who wait.
        case answer(LoadResult)
        /// Load, for those who wait.
        case load(Load)
    }

    /// A session began.
    ///
    /// Its token is given, or has to be loaded. From now on, answers of loads of older sessions are ignored (O2).
    ///
    /// Those who waited for a load of the former session are answered with the token. If there is none, or one that has
    /// expired, they go on to wait, for a load of this session. That load starts when the former one has ended, or is
    /// past its deadline: the session may be the same user's, and two loads would send the same refresh token (O9).
    package mutating func signIn(_ token: AccessToken?, waiters: Int, at now: Date) -> SignInAction {
        let inside = endSession(because: .replaced)
        session = newSession(with: token, at: now)
        outlook = SessionOutlook(isKnown: true)
        if let current = session.current, current.isUsable(at: now) {
            report(.init(.signedIn, waiters: waiters))
            return .answer(.success(current.token))
        }
        report(.init(.signedIn, waiters: 0))
        guard waiters > 0, let load = loadForWaiters(inside: inside, at: now) else { return .nothing }
        return .load(load)
    }

    func newSession(with token: AccessToken?, at now: Date) -> Session {
        token.map { .current(CachedToken($0, load: lastLoad, policy: policy, at: now)) } ?? .outdated(nil)
    }

    // MARK: The end of a session

    /// What follows a sign-out, for which all who wait are answered with ``AccessTokenError/signedOut`` first (O1).
    ///
    /// In each case these loads are running, and have to be cancelled, if the loader's calls can be cancelled. Their
    /// ends are waited for all the same, until their deadlines.
    package enum SignOutAction: Sendable {
        /// Have the loader forget what is older than this session epoch.
        case forget(sessionEpoch: Int, cancelling: [Load])
        /// The loader forgets when loads have ended, or is forgetting already.
        case wait(cancelling: [Load])
        /// The same, but the sign-out is done: it came from inside of a load that would wait for itself.
        case done(cancelling: [Load])
    }

    /// The session ended: nobody is given a token until the next sign-in (O3).
    ///
    /// Cancel the loads that are running. When they are over, the loader forgets the session.
    ///
    /// If a loader signs out while it forgets a session, that sign-out joins the one under way. Otherwise each would
    /// start another, without end.
    ///
    /// - Parameters:
    ///   - loads: the loads inside which the caller is.
    ///   - done: is returned when the loader has forgotten this session, and those before it.
    package mutating func signOut(
        inside loads: [Load.ID],
        waiters: Int,
        then done: @escaping @Sendable () -> Void
    ) -> SignOutAction {
        report(.init(.signedOut, waiters: waiters))
        var isUnderWay = false
        if case .signedOut = session { isUnderWay = indexOfForgetting(sessionEpoch) != nil }
        // A load that ends its own session, which has ended already, says nothing of a login that comes after it.
        if !isLate(loads) { signOuts += 1 }
        if !isUnderWay {
            _ = endSession(because: .signedOut)
            forgettings.append(Forgetting(sessionEpoch: sessionEpoch))
        }
        let running = formerLoads.map(\.load)
        if formerLoads.contains(where: { $0.reason == .signedOut && loads.contains($0.load.id) }) {
            return .done(cancelling: running)
        }
        forgettings[forgettings.count - 1].done.append(done)
        // Of those before this one, none has a reason to begin that it did not have before.
        guard let epoch = startForgetting().last else { return .wait(cancelling: running) }
        return .forget(sessionEpoch: epoch, cancelling: running)
    }

    /// Whether a sign-out inside of these loads ends nothing: it is about a former session that the loader has forgotten,
    /// or that another one has replaced, which may be the next user's (O2); or a newer load has renewed the session.
    ///
    /// A login may have stored the next session's credential already.
    package func isLateSignOut(inside loads: [Load.ID]) -> Bool {
        if case .signedOut = session, indexOfForgetting(sessionEpoch) != nil { return false }
        return isLate(loads)
    }

    /// Whether the innermost of these loads is running still, and its session has ended or has been renewed.
    private func isLate(_ loads: [Load.ID]) -> Bool {
        guard let load = loads.last(where: { $0.service == service }) else { return false }
        let isFormer = formerLoads.contains { $0.load.id == load }
        return isFormer && (load.sessionEpoch < sessionEpoch || load.number < session.newestLoad)
    }

    /// Returns the loads inside which the session's load ran, or would have run.
    private mutating func endSession(because reason: FormerLoad.Reason) -> [Load.ID] {
        defer {
            session = .signedOut
            outlook = SessionOutlook()
            sessionEpoch += 1
        }
        if reason == .signedOut {
            for index in formerLoads.indices where formerLoads[index].reason == .replaced {
                formerLoads[index].reason = .signedOut
            }
        }
        switch session {
        case .loadingAhead(let current, _), .loading(let current, _):
            if begunLoad == current.load.id.number {
                formerLoads.append(FormerLoad(load: current.load, reason: reason))
            }
            return current.load.enclosing.dropLast()
        case .held(let inside, _): return inside
        case .signedOut, .current, .outdated: return []
        }
    }

    // MARK: What the loader forgets

    package enum ForgottenAction: Sendable {
        /// The loader has forgotten every session that has ended.
        case done
        /// What was given is returned when the loader has.
        case wait
    }

    /// Somebody wants to know when the loader has forgotten every session that has ended.
    package mutating func whenForgotten(_ done: @escaping @Sendable () -> Void) -> ForgottenAction {
        guard !forgettings.isEmpty else { return .done }
        forgettings[forgettings.count - 1].done.append(done)
        return .wait
    }

    /// The loader has forgotten a session.
    ///
    /// - Returns: the ends of sign-outs that waited for that, to be called.
    package mutating func forgettingFinished(_ sessionEpoch: Int) -> [@Sendable () -> Void] {
        guard let index = indexOfForgetting(sessionEpoch) else { return [] }
        return endForgetting(at: index)
    }

    /// The loader did not say in time that it has forgotten a session: the sign-outs that waited for that are done all
    /// the same.
    package mutating func forgettingTimedOut(_ sessionEpoch: Int) -> [@Sendable () -> Void] {
        guard let index = indexOfForgetting(sessionEpoch) else { return [] }
        report(.init(.signOutTimedOut))
        return endForgetting(at: index)
    }

    /// Has those sessions forgotten whose loads are over: none of them can store a credential any more.
    mutating func startForgetting() -> [Int] {
        forgettings.indices.compactMap { index in
            let epoch = forgettings[index].sessionEpoch
            let isWaiting = formerLoads.contains { $0.reason == .signedOut && $0.load.id.sessionEpoch < epoch }
            guard forgettings[index].progress == .awaitsLoads, !isWaiting else { return nil }
            forgettings[index].progress = .isUnderWay
            return epoch
        }
    }

    /// Where the forgetting is, unless it is over.
    private func indexOfForgetting(_ sessionEpoch: Int) -> Int? {
        forgettings.firstIndex { $0.sessionEpoch == sessionEpoch && $0.progress != .isOver }
    }

    /// Returns the ends of this sign-out and of later ones that waited for it, unless an earlier one is not over (O1).
    private mutating func endForgetting(at index: Int) -> [@Sendable () -> Void] {
        forgettings[index].progress = .isOver
        let pending = forgettings.drop { $0.progress == .isOver }
        defer { forgettings = Array(pending) }
        return forgettings.prefix(forgettings.count - pending.count).flatMap(\.done)
    }
}
