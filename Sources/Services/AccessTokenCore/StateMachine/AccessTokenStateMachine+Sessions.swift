package import AccessTokenFoundation

extension AccessTokenStateMachine {
    // MARK: Sessions

    /// A session began.
    ///
    /// Its token is given, or has to be loaded. From now on, answers of loads of older sessions are ignored (O2).
    ///
    /// Those who waited for a load of the former session are answered with the token. If there is none, or one that has
    /// expired, they go on to wait, for a load of this session. That load starts when the former one has ended, or is
    /// past its deadline: the session may be the same user's, and two loads would send the same refresh token (O9).
    package mutating func signIn(_ token: AccessToken?, at now: Date) -> Action {
        let inside = endSession(because: .replaced)
        session = newSession(with: token, at: now)
        let usable = session?.current.flatMap { $0.isUsable(at: now) ? $0 : nil }
        let answered = usable == nil ? 0 : waiters
        report(.init(.signedIn, waiters: answered))
        if let usable { return answerAll(.success(usable.token)) }
        var action = Action()
        guard waiters > 0 else { return action }
        if let load = replaceToken(inside: inside, at: now) { action.loader = [.load(load)] }
        return action
    }

    /// The session ended: answer all who wait (O1), and everybody until the next sign-in (O3).
    ///
    /// Cancel the loads that are running. When they are over, the loader forgets the session.
    ///
    /// A loader that signs out while it forgets would start the next forgetting, for ever. That sign-out joins the
    /// present one.
    ///
    /// - Parameters:
    ///   - loads: the loads inside which the caller is. The caller does not wait for such a load, which would wait for
    ///     itself.
    ///   - done: called when the loader has forgotten this session, and those before it.
    package mutating func signOut(inside loads: [LoadID], then done: @escaping @Sendable () -> Void) -> Action {
        let waiters = waiters
        report(.init(.signedOut, waiters: waiters))
        let isUnderWay = session == nil && indexOfPending(sessionEpoch) != nil
        if !isUnderWay {
            _ = endSession(because: .signedOut)
            forgettings.append(Forgetting(id: sessionEpoch))
        }
        var action = answerAll(.failure(AccessTokenError.signedOut))
        action.loader = formerLoads.map { .cancel($0.load) } + startForgetting()
        if formerLoads.contains(where: { $0.reason == .signedOut && loads.contains($0.load.id) }) {
            action.signOutsDone = [done]
        } else {
            forgettings[forgettings.count - 1].done.append(done)
        }
        return action
    }

    /// Calls `done` when the loader has forgotten every session that has ended: at once, if there is none to forget.
    package mutating func whenForgotten(_ done: @escaping @Sendable () -> Void) -> Action {
        var action = Action()
        if forgettings.isEmpty {
            action.signOutsDone = [done]
        } else {
            forgettings[forgettings.count - 1].done.append(done)
        }
        return action
    }

    /// The loader has forgotten a session: the sign-outs that waited for that are done.
    package mutating func forgettingFinished(_ id: Forgetting.ID) -> Action {
        guard let index = indexOfPending(id) else { return Action() }
        return end(at: index)
    }

    /// The loader did not say in time that it has forgotten a session: the sign-outs that waited for that are done all
    /// the same.
    package mutating func forgettingTimedOut(_ id: Forgetting.ID) -> Action {
        guard let index = indexOfPending(id) else { return Action() }
        report(.init(.signOutTimedOut))
        return end(at: index)
    }

    func newSession(with token: AccessToken?, at now: Date) -> Session {
        Session(token: token.map { .current(CachedToken($0, load: lastLoad, policy: policy, at: now)) } ?? .none)
    }

    /// Nobody waits any longer for the end of some load.
    mutating func formerLoadEnded(at now: Date) -> Action {
        var action = Action()
        action.loader = startForgetting()
        guard case .held(let inside) = session?.load, !isReplacedLoadRunning else { return action }
        session?.load = .none
        // Those who waited may have been cancelled meanwhile.
        if waiters > 0, let load = replaceToken(inside: inside, at: now) { action.loader.append(.load(load)) }
        return action
    }

    /// Returns the loads inside which the session's load ran, or would have run.
    private mutating func endSession(because reason: FormerLoad.Reason) -> [LoadID] {
        defer {
            session = nil
            sessionEpoch += 1
        }
        if reason == .signedOut {
            for index in formerLoads.indices where formerLoads[index].reason == .replaced {
                formerLoads[index].reason = .signedOut
            }
        }
        switch session?.load {
        case .running(let current):
            if current.isBegun { formerLoads.append(FormerLoad(load: current.load, reason: reason)) }
            return current.load.enclosing.dropLast()
        case .held(let inside): return inside
        case .none?, nil: return []
        }
    }

    /// Has those sessions forgotten whose loads are over: none of them can store a credential any more.
    private mutating func startForgetting() -> [Action.LoaderCall] {
        forgettings.indices.compactMap { index in
            let id = forgettings[index].id
            let isWaiting = formerLoads.contains { $0.reason == .signedOut && $0.load.id.sessionEpoch < id }
            guard !forgettings[index].isStarted, !isWaiting else { return nil }
            forgettings[index].isStarted = true
            return .forget(id)
        }
    }

    private func indexOfPending(_ id: Forgetting.ID) -> Int? {
        forgettings.firstIndex { $0.id == id && !$0.isOver }
    }

    private mutating func end(at index: Int) -> Action {
        forgettings[index].isOver = true
        let pending = forgettings.drop(while: \.isOver)
        var action = Action()
        action.signOutsDone = forgettings.prefix(forgettings.count - pending.count).flatMap(\.done)
        forgettings = Array(pending)
        return action
    }
}
