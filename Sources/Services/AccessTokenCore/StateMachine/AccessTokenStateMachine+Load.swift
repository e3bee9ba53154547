package import AccessTokenFoundation

/// A load to be started: set the timer of its deadline, and ask the loader if the load is still the current one then.
package struct LoadStart: Sendable {
    package let load: LoadID
    package let replacing: AccessToken?
    package let priority: UInt8
    /// The loads inside which it runs, itself the last.
    package let enclosing: [LoadID]
}

extension AccessTokenStateMachine {
    // MARK: The load

    /// Starts the load of a token that all callers wait for.
    mutating func replaceToken(for caller: CallerContext, at now: Date) -> LoadStart {
        if let expired = session?.token.take() { session?.outdated = expired }
        let start = startLoad(for: caller, replacing: session?.outdated?.token, at: now)
        report(.init(.loadStarted, load: start.load.number))
        return start
    }

    mutating func startLoad(for caller: CallerContext, replacing old: AccessToken?, at now: Date) -> LoadStart {
        lastLoad += 1
        let id = LoadID(service: service, sessionEpoch: sessionEpoch, number: lastLoad)
        // Of this service the innermost load is enough, or the loads of a loader that starts the next one would pile up.
        let innermost = caller.loads.last { $0.service == service }
        let enclosing = caller.loads.filter { $0.service != service || $0 == innermost }
        session?.load = CurrentLoad(id: id, startedAt: now, priority: caller.priority, enclosing: enclosing)
        return LoadStart(load: id, replacing: old, priority: caller.priority, enclosing: enclosing + [id])
    }

    /// A load has answered, for the first time.
    ///
    /// - Parameter error: what events say of the result's error, if anybody is told.
    /// - Returns: the answer to all waiters; `nil` if it was not the current load any more.
    package mutating func loadFinished(
        _ id: LoadID,
        _ result: LoadResult,
        error logged: LoggedError?,
        waiters: Int,
        at now: Date
    ) -> LoadResult? {
        // Drops the answer of a former session, or of a load past its deadline (O1, S3).
        guard let load = session?.load, load.id == id else {
            lateAnswer(id, result, at: now)
            return nil
        }
        let seconds = max(0, now.timeIntervalSince(load.startedAt))
        switch result {
        case .success(let token):
            report(.init(.loadSucceeded, load: id.number, waiters: waiters, seconds: seconds))
            if let late = load.late { report(.init(.ignoredAnswerOfOlderLoad, load: late.load)) }
            var cached = CachedToken(token, load: id.number, policy: policy, at: now)
            if !cached.isUsable(at: now) { cached.serveThoughExpired(within: policy.minimumLoadInterval, of: now) }
            session = Session(token: cached)
            return result
        case .failure(let error):
            report(
                .init(
                    .loadFailed,
                    load: id.number,
                    waiters: waiters,
                    seconds: seconds,
                    errorType: logged?.type,
                    errorCode: logged?.code
                )
            )
            return giveUp(load, failing: error, at: now)
        }
    }

    /// A load was silent past the policy's deadline: its waiters fail, and the next call loads again (T1).
    ///
    /// - Returns: the answer to all waiters; `nil` if it was not the current load any more.
    package mutating func deadlinePassed(_ id: LoadID, waiters: Int, at now: Date) -> LoadResult? {
        guard let load = session?.load, load.id == id else { return nil }
        let seconds = max(0, now.timeIntervalSince(load.startedAt))
        report(.init(.loadTimedOut, load: id.number, waiters: waiters, seconds: seconds))
        return giveUp(load, failing: AccessTokenError.loadTimedOut, at: now)
    }

    /// A load has answered once more; only its first answer counts (D7).
    package mutating func loadAnsweredAgain(_ id: LoadID) {
        report(.init(.ignoredRepeatedAnswer, load: id.number))
    }

    /// Whether this is the current load; any other load that was not begun is not needed any more.
    package func isCurrent(_ id: LoadID) -> Bool {
        session?.load?.id == id
    }

    /// Falls back on the best token that is left: a valid late one kept aside, else the valid one that was to be renewed
    /// (C5), else none; then no error is remembered (F2).
    ///
    /// Waiters are given that token if it is valid. An error would be wrong: they asked for a valid token, and there is
    /// one. The load may have failed for no other reason than that the late answer had used up the refresh token.
    private mutating func giveUp(_ load: CurrentLoad, failing error: any Error, at now: Date) -> LoadResult {
        session?.load = nil
        session?.token?.postponeRefreshAhead(until: now + policy.minimumLoadInterval)
        if let late = load.late, late.isUsable(at: now) || session?.token?.isUsable(at: now) != true { adopt(late) }
        guard let token = session?.token, token.isUsable(at: now) else { return .failure(error) }
        return .success(token.token)
    }

    /// A load has answered that is not the current one any more.
    ///
    /// Its token may be the only good one, since the server may have rotated the refresh token for it: it is kept if it
    /// is of this session and nothing newer was there (T2).
    private mutating func lateAnswer(_ id: LoadID, _ result: LoadResult, at now: Date) {
        // A late answer cannot undo a sign-out, nor reach the session after it (O1, O2).
        guard let session, id.sessionEpoch == sessionEpoch else {
            return report(.init(.ignoredAnswerOfFormerSession, load: id.number))
        }
        let replaced = session.load == nil ? session.outdated : session.token ?? session.outdated
        guard case .success(let token) = result, token.value != replaced?.token.value else {
            return report(.init(.ignoredWorthlessAnswer, load: id.number))
        }
        let late = CachedToken(token, load: id.number, policy: policy, at: now)
        guard late.isUsable(at: now) else { return report(.init(.ignoredWorthlessAnswer, load: id.number)) }
        // A token that was rejected or is kept aside is there as well.
        let newest = [session.token, session.outdated, session.load?.late].compactMap { $0?.load }.max() ?? 0
        guard newest < id.number else {
            return report(.init(.ignoredAnswerOfOlderLoad, load: id.number))
        }
        if session.load == nil { adopt(late) } else { self.session?.load?.late = late }
    }

    private mutating func adopt(_ late: CachedToken) {
        session?.token = late
        session?.outdated = nil
        report(.init(.adoptedLateAnswer, load: late.load))
    }
}
