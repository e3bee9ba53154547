package import AccessTokenFoundation

extension AccessTokenStateMachine {
    // MARK: The start of a load

    /// Starts the load of a token that all callers wait for; `nil` if it is held, for it starts later.
    mutating func replaceToken(inside loads: [LoadID], at now: Date) -> Load? {
        session?.retireToken()
        guard !isReplacedLoadRunning else {
            session?.load = .held(inside: loads)
            return nil
        }
        return startLoad(inside: loads, replacing: session?.tokenToReplace, .loadStarted, at: now)
    }

    mutating func startLoad(
        inside loads: [LoadID],
        replacing old: AccessToken?,
        _ event: AccessTokenEvent.Kind,
        at now: Date
    ) -> Load {
        lastLoad += 1
        let id = LoadID(service: service, sessionEpoch: sessionEpoch, number: lastLoad)
        // Of this service the innermost load is enough, or the loads of a loader that starts the next one would pile
        // up.
        let innermost = loads.last { $0.service == service }
        let enclosing = loads.filter { $0.service != service || $0 == innermost }
        let load = Load(id: id, replacing: old, enclosing: enclosing + [id])
        session?.load = .running(CurrentLoad(load: load, startedAt: now))
        report(.init(event, load: id.number))
        return load
    }

    /// Whether a load of a session runs that a sign-in has replaced: then the present session must not load yet (O9).
    var isReplacedLoadRunning: Bool { formerLoads.contains { $0.reason == .replaced } }

    /// The loader could be asked now; a load that is not the current one any more must not be begun.
    package mutating func loadBegins(_ load: Load) -> Bool {
        guard currentLoad == load.id else { return false }
        session?.withRunningLoad { $0.isBegun = true }
        return true
    }

    // MARK: The end of a load

    /// A load that was begun has answered, for the first time: answer all who wait, or load once more for them (I9).
    ///
    /// If others waited for the end of the load, their load starts, or the loader forgets a session.
    ///
    /// - Parameters:
    ///   - result: `nil` if the loader was not asked after all.
    ///   - error: what events say of the result's error, if anybody is told.
    package mutating func loadFinished(
        _ load: Load,
        _ result: LoadResult?,
        error logged: LoggedError?,
        at now: Date
    ) -> Action {
        if let index = formerLoads.firstIndex(where: { $0.load.id == load.id }) {
            let former = formerLoads.remove(at: index)
            if let result { lateAnswer(former, result, at: now) }
            return formerLoadEnded(at: now)
        }
        guard let current = session?.runningLoad, current.load.id == load.id else { return Action() }
        let (waiters, seconds) = (waiters, max(0, now.timeIntervalSince(current.startedAt)))
        switch result ?? .failure(cancellationError) {
        case .success(let token):
            report(.init(.loadSucceeded, load: load.id.number, waiters: waiters, seconds: seconds))
            return tokenCame(token, by: current, at: now)
        case .failure(let error):
            report(
                .init(
                    .loadFailed,
                    load: load.id.number,
                    waiters: waiters,
                    seconds: seconds,
                    errorType: logged?.type,
                    errorCode: logged?.code
                )
            )
            return giveUp(current, failing: error, at: now)
        }
    }

    /// A load was silent past the policy's deadline: answer all who wait, and the next call loads again (T1).
    ///
    /// If others waited for the end of the load, they wait no longer.
    package mutating func deadlinePassed(_ load: Load, at now: Date) -> Action {
        if let index = formerLoads.firstIndex(where: { $0.load.id == load.id }) {
            formerLoads[index].reason = .overdue
            return formerLoadEnded(at: now)
        }
        guard let current = session?.runningLoad, current.load.id == load.id else { return Action() }
        let (waiters, seconds) = (waiters, max(0, now.timeIntervalSince(current.startedAt)))
        report(.init(.loadTimedOut, load: load.id.number, waiters: waiters, seconds: seconds))
        if current.isBegun {
            formerLoads.append(FormerLoad(load: load, reason: .overdue, rejected: current.rejected))
        }
        return giveUp(current, failing: AccessTokenError.loadTimedOut, at: now)
    }

    /// A load has answered once more; only its first answer counts (D7), and there is nothing to do.
    package mutating func loadAnsweredAgain(_ load: Load) -> Action {
        report(.init(.ignoredRepeatedAnswer, load: load.id.number))
        return Action()
    }

    /// The loads that are running learn of a rejection, but for those that were told of it when they were started.
    mutating func noteRejection(of value: String) {
        if case .outdated(let known) = session?.token, known.token.value == value { return }
        session?.withRunningLoad { $0.rejected.insert(value) }
        for index in formerLoads.indices where formerLoads[index].load.id.sessionEpoch == sessionEpoch {
            formerLoads[index].rejected.insert(value)
        }
    }

    /// The current load has brought a token.
    ///
    /// | the token | what is left | what becomes of them |
    /// | --- | --- | --- |
    /// | is valid | anything | it is cached, and handed to all who wait |
    /// | was rejected during the load, or has expired | a valid token | what is left is cached, and handed to all who wait |
    /// | was rejected during the load | no valid token | it goes; one more load, told of it, if anybody waits (I9) |
    /// | has expired | no valid token | it is handed out for a moment, since the next one may be no better |
    private mutating func tokenCame(_ token: AccessToken, by current: CurrentLoad, at now: Date) -> Action {
        var cached = CachedToken(token, load: current.load.id.number, policy: policy, at: now)
        let isRejected = current.rejected.contains(token.value)
        let isGood = cached.isUsable(at: now) && !isRejected
        let late = current.late.flatMap { current.rejected.contains($0.token.value) ? nil : $0 }
        let isValidOneLeft = [late, session?.current].contains { $0?.isUsable(at: now) == true }
        if !isGood {
            if isRejected || isValidOneLeft { report(.init(.ignoredWorthlessAnswer, load: cached.load)) }
            if isValidOneLeft { return giveUp(current, failing: cancellationError, at: now) }
        }
        if let late = current.late { report(.init(.ignoredAnswerOfOlderLoad, load: late.load)) }
        guard !isRejected else {
            session = Session(token: .outdated(cached))
            var action = Action()
            guard waiters > 0 else { return action }
            let load = replaceToken(inside: current.load.enclosing.dropLast(), at: now)
            action.loader = load.map { [.load($0)] } ?? []
            return action
        }
        if !isGood { cached.serveThoughExpired(within: policy.minimumLoadInterval, of: now) }
        session = Session(token: .current(cached))
        return answerAll(.success(token))
    }

    /// Falls back on the best token that is left: a valid late one kept aside, else the valid one that was to be
    /// renewed (C5), else none; then no error is remembered (F2).
    ///
    /// Waiters are given that token if it is valid. An error would be wrong: they asked for a valid token, and there is
    /// one. The load may have failed for no other reason than that the late answer had used up the refresh token.
    private mutating func giveUp(_ load: CurrentLoad, failing error: any Error, at now: Date) -> Action {
        session?.load = .none
        if var token = session?.current {
            token.postponeRefreshAhead(until: now + policy.minimumLoadInterval)
            session?.token = .current(token)
        }
        if let late = load.late {
            let isMissed = session?.current?.isUsable(at: now) != true
            if load.rejected.contains(late.token.value) {
                report(.init(.ignoredWorthlessAnswer, load: late.load))
                if isMissed { session?.token = .outdated(late) }
            } else if isMissed || late.isUsable(at: now) {
                adopt(late)
            }
        }
        guard let token = session?.current, token.isUsable(at: now) else { return answerAll(.failure(error)) }
        return answerAll(.success(token.token))
    }

    /// A load has answered that is not the current one any more.
    ///
    /// | its session | its answer | what becomes of the answer |
    /// | --- | --- | --- |
    /// | is over | any | ignored: it cannot undo a sign-out, nor reach the session after it (O1, O2) |
    /// | goes on | an error; a token that has expired, was rejected, or is to be replaced | ignored: worth nothing |
    /// | goes on | a token no newer than one that was there since | ignored (S3) |
    /// | goes on, and no load is running | a newer token | cached: the server may have rotated for it (T2) |
    /// | goes on, and a load is running | a newer token | kept aside, in case that the running load fails (T2) |
    private mutating func lateAnswer(_ former: FormerLoad, _ result: LoadResult, at now: Date) {
        let id = former.load.id
        guard let session, id.sessionEpoch == sessionEpoch else {
            return report(.init(.ignoredAnswerOfFormerSession, load: id.number))
        }
        guard case .success(let token) = result, token.value != session.tokenToReplace?.value,
            !former.rejected.contains(token.value)
        else { return report(.init(.ignoredWorthlessAnswer, load: id.number)) }
        let late = CachedToken(token, load: id.number, policy: policy, at: now)
        guard late.isUsable(at: now) else { return report(.init(.ignoredWorthlessAnswer, load: id.number)) }
        guard late.load > session.newestLoad else {
            return report(.init(.ignoredAnswerOfOlderLoad, load: id.number))
        }
        if session.runningLoad == nil { adopt(late) } else { self.session?.withRunningLoad { $0.late = late } }
    }

    private mutating func adopt(_ late: CachedToken) {
        session?.token = .current(late)
        report(.init(.adoptedLateAnswer, load: late.load))
    }
}
