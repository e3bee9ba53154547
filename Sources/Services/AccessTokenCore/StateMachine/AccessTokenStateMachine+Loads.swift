package import AccessTokenFoundation

extension AccessTokenStateMachine {
    // MARK: The start of a load

    /// Starts the load of a token that all callers wait for.
    ///
    /// - Returns: `nil` if there is nothing to start: the load is running, or is held and starts later.
    mutating func loadForWaiters(inside loads: [Load.ID], at now: Date) -> Load? {
        // Nothing is written for a caller that joins: what is written is published.
        if session.current != nil { session.retireToken() }
        guard case .outdated(let token) = session else { return nil }
        guard !isReplacedLoadRunning else {
            session = .held(inside: loads, outdated: token)
            return nil
        }
        let load = newLoad(inside: loads, replacing: token?.token)
        session = .loading(CurrentLoad(load: load, startedAt: now), outdated: token)
        report(.init(.loadStarted, load: load.id.number))
        return load
    }

    mutating func newLoad(inside loads: [Load.ID], replacing old: AccessToken?) -> Load {
        lastLoad += 1
        let id = Load.ID(service: service, sessionEpoch: sessionEpoch, number: lastLoad)
        // Of this service only the innermost load is kept. Otherwise a loader that starts the next load from inside
        // would make the list longer each time.
        let innermost = loads.last { $0.service == service }
        let enclosing = loads.filter { $0.service != service || $0 == innermost }
        return Load(id: id, replacing: old, enclosing: enclosing + [id])
    }

    /// Whether a load of a session runs that a sign-in has replaced: then the present session must not load yet (O9).
    var isReplacedLoadRunning: Bool { formerLoads.contains { $0.reason == .replaced } }

    /// Whether the loader, which could be asked now, is to be asked: not for a load that is not the current one any
    /// more.
    package mutating func loadBegins(_ load: Load) -> Bool {
        guard currentLoad == load.id else { return false }
        begunLoad = load.id.number
        return true
    }

    // MARK: The end of a load

    /// What follows the end of a load, or its deadline.
    package enum LoadEndAction: Sendable {
        case nothing
        /// Answer all who wait.
        case answer(LoadResult)
        /// Load, for those who wait: they waited for the end of this load (O9), or it was in vain (I9).
        case load(Load)
        /// Have the loader forget what is older than these session epochs, one after the other: this load could still
        /// store a credential.
        case forget(sessionEpochs: [Int])
    }

    /// A load that was begun has answered, for the first time.
    ///
    /// - Parameter answer: `nil` if the loader was not asked after all.
    package mutating func loadFinished(
        _ load: Load,
        _ answer: LoadAnswer?,
        waiters: Int,
        at now: Date
    ) -> LoadEndAction {
        if let index = formerLoads.firstIndex(where: { $0.load.id == load.id }) {
            let former = formerLoads.remove(at: index)
            if let answer { lateAnswer(former, answer, at: now) }
            return formerLoadEnded(waiters: waiters, at: now)
        }
        guard let current = session.runningLoad, current.load.id == load.id else { return .nothing }
        let seconds = max(0, now.timeIntervalSince(current.startedAt))
        switch answer?.result ?? .failure(cancellationError) {
        case .success(let token):
            report(.init(.loadSucceeded, load: load.id.number, waiters: waiters, seconds: seconds))
            return tokenCame(token, by: current, waiters: waiters, at: now)
        case .failure(let error):
            report(
                .init(
                    .loadFailed,
                    load: load.id.number,
                    waiters: waiters,
                    seconds: seconds,
                    errorType: answer?.error?.type,
                    errorCode: answer?.error?.code
                )
            )
            // With a good answer of an older load, nothing is said against the session.
            if let need = answer?.need, current.late == nil { loginIsNeeded(need, answer?.error) }
            return giveUp(current, failing: error, at: now)
        }
    }

    /// A load was silent past the policy's deadline: answer all who wait, and the next call loads again (T1).
    ///
    /// If others waited for the end of the load, they wait no longer.
    package mutating func deadlinePassed(_ load: Load, waiters: Int, at now: Date) -> LoadEndAction {
        if let index = formerLoads.firstIndex(where: { $0.load.id == load.id }) {
            formerLoads[index].reason = .overdue
            return formerLoadEnded(waiters: waiters, at: now)
        }
        guard let current = session.runningLoad, current.load.id == load.id else { return .nothing }
        let seconds = max(0, now.timeIntervalSince(current.startedAt))
        report(.init(.loadTimedOut, load: load.id.number, waiters: waiters, seconds: seconds))
        if begunLoad == load.id.number {
            formerLoads.append(FormerLoad(load: load, reason: .overdue, rejected: current.rejected))
        }
        return giveUp(current, failing: AccessTokenError.loadTimedOut, at: now)
    }

    /// A load has answered once more; only its first answer counts (D7), and there is nothing to do.
    package mutating func loadAnsweredAgain(_ load: Load) {
        report(.init(.ignoredRepeatedAnswer, load: load.id.number))
    }

    /// Nobody waits any longer for the end of some load: the loader forgets, or a load starts that was held.
    private mutating func formerLoadEnded(waiters: Int, at now: Date) -> LoadEndAction {
        let sessionEpochs = startForgetting()
        guard sessionEpochs.isEmpty else { return .forget(sessionEpochs: sessionEpochs) }
        guard case .held(let inside, _) = session, !isReplacedLoadRunning else { return .nothing }
        session.endLoad()
        // Those who waited may have been cancelled meanwhile.
        guard waiters > 0, let load = loadForWaiters(inside: inside, at: now) else { return .nothing }
        return .load(load)
    }

    /// Notes a rejected value in every running load, except in loads that were started since that value was worth
    /// nothing.
    mutating func noteRejection(of token: AccessToken) {
        let known: CachedToken? =
            switch session {
            case .loading(let load, _) where load.isAhead: nil
            case .outdated(let token), .held(_, let token), .loading(_, let token): token
            case .signedOut, .current, .loadingAhead: nil
            }
        guard known?.token.secret != token.secret else { return }
        noteInRunningLoads { $0.insert(token) }
    }

    /// Notes in every running load of the session what is rejected of its answers.
    mutating func noteInRunningLoads(_ note: (inout RejectedTokens) -> Void) {
        if let current = session.runningLoad {
            var rejected = current.rejected
            note(&rejected)
            // What is written counts as a change.
            if rejected != current.rejected { session.withRunningLoad { $0.rejected = rejected } }
        }
        for index in formerLoads.indices where formerLoads[index].load.id.sessionEpoch == sessionEpoch {
            note(&formerLoads[index].rejected)
        }
    }

    /// Whether a load has brought what is rejected of its answers.
    private func isRejected(_ token: AccessToken, _ rejected: RejectedTokens) -> Bool {
        rejected.contains(token, butFor: outlook.stored?.token)
    }

    /// The current load has brought a token.
    ///
    /// | the token | what is left | what becomes of them |
    /// | --- | --- | --- |
    /// | is valid | anything | it is cached, and handed to all who wait |
    /// | was rejected during the load, or has expired | a valid token | what is left is cached, and handed to all who wait |
    /// | was rejected during the load | no valid token | it goes; one more load, told of it, if anybody waits (I9) |
    /// | has expired | no valid token | it is handed out for a moment, since the next one may be no better |
    private mutating func tokenCame(
        _ token: AccessToken,
        by current: CurrentLoad,
        waiters: Int,
        at now: Date
    ) -> LoadEndAction {
        var cached = CachedToken(token, load: current.load.id.number, policy: policy, at: now)
        let isRejected = isRejected(token, current.rejected)
        let isGood = cached.isUsable(at: now) && !isRejected
        let late = current.late.flatMap { self.isRejected($0.token, current.rejected) ? nil : $0 }
        let isValidOneLeft = [late, session.current].contains { $0?.isUsable(at: now) == true }
        if !isGood {
            if isRejected || isValidOneLeft { report(.init(.ignoredWorthlessAnswer, load: cached.load)) }
            if isValidOneLeft { return giveUp(current, failing: cancellationError, at: now) }
        }
        if let late = current.late { report(.init(.ignoredAnswerOfOlderLoad, load: late.load)) }
        guard !isRejected else {
            session = .outdated(cached)
            let inside = current.load.enclosing.dropLast()
            guard waiters > 0, let load = loadForWaiters(inside: Array(inside), at: now) else { return .nothing }
            return .load(load)
        }
        if !isGood { cached.serveThoughExpired(within: policy.minimumLoadInterval, of: now) }
        session = .current(cached)
        outlook.tokenCame(token)
        return .answer(.success(token))
    }

    /// Falls back on the best token left: a valid late one, or else the one that was being renewed (C5).
    ///
    /// Without either, waiters get the error, and it is not remembered (F2).
    ///
    /// Waiters are given that token if it is valid. An error would be wrong: they asked for a valid token, and there is
    /// one. The load may have failed for no other reason than that the late answer had used up the refresh token.
    private mutating func giveUp(_ load: CurrentLoad, failing error: any Error, at now: Date) -> LoadEndAction {
        session.endLoad()
        if case .current(var token) = session {
            token.postponeRefreshAhead(until: now + policy.minimumLoadInterval)
            session = .current(token)
        }
        if let late = load.late {
            let isMissed = session.current?.isUsable(at: now) != true
            if isRejected(late.token, load.rejected) {
                report(.init(.ignoredWorthlessAnswer, load: late.load))
                if isMissed { session = .outdated(late) }
            } else if isMissed || late.isUsable(at: now) {
                adopt(late)
            }
        }
        guard let token = session.current, token.isUsable(at: now) else { return .answer(.failure(error)) }
        return .answer(.success(token.token))
    }

    /// A load has answered that is not the current one any more.
    ///
    /// | its session | its answer | what becomes of the answer |
    /// | --- | --- | --- |
    /// | is over | any | ignored: it cannot undo a sign-out, nor reach the session after it (O1, O2) |
    /// | goes on | an error after which only a login helps, and no token has come since | ignored but for the status |
    /// | goes on | an error; a token that has expired, was rejected, or is to be replaced | ignored: worth nothing |
    /// | goes on | the token that this load was to replace, unless it is the current one still | ignored: worth nothing |
    /// | goes on | a token no newer than one that was there since | ignored (S3) |
    /// | goes on, and no load is running | a newer token | cached: the server may have rotated for it (T2) |
    /// | goes on, and a load is running | a newer token | kept aside, in case that the running load fails (T2) |
    private mutating func lateAnswer(_ former: FormerLoad, _ answer: LoadAnswer, at now: Date) {
        let id = former.load.id
        guard id.sessionEpoch == sessionEpoch else {
            return report(.init(.ignoredAnswerOfFormerSession, load: id.number))
        }
        if let need = answer.need, id.number > session.newestLoad { loginIsNeeded(need, answer.error) }
        guard case .success(let token) = answer.result, token.secret != session.tokenToReplace?.token.secret,
            token.secret != former.load.replacing?.secret || token.secret == session.current?.token.secret,
            !isRejected(token, former.rejected)
        else { return report(.init(.ignoredWorthlessAnswer, load: id.number)) }
        let late = CachedToken(token, load: id.number, policy: policy, at: now)
        guard late.isUsable(at: now) else { return report(.init(.ignoredWorthlessAnswer, load: id.number)) }
        guard late.load > session.newestLoad else {
            return report(.init(.ignoredAnswerOfOlderLoad, load: id.number))
        }
        switch session {
        case .current, .outdated: adopt(late)
        case .loadingAhead, .loading:
            session.withRunningLoad { $0.late = late }
            report(.init(.keptLateAnswer, load: late.load))
        // No load of the present session has been started.
        case .signedOut, .held: break
        }
    }

    private mutating func adopt(_ late: CachedToken) {
        session = .current(late)
        outlook.tokenCame(late.token)
        report(.init(.adoptedLateAnswer, load: late.load))
    }
}
