package import Foundation

extension AccessTokenStateMachine {
    // MARK: The load

    /// A load has answered, for the first time.
    ///
    /// - Parameter error: what events say of the result's error, if anybody is told.
    /// - Returns: the answer to all waiters; `nil` if it was not the current load any more.
    package mutating func loadFinished(
        _ id: FlightID,
        _ result: LoadResult,
        error logged: LoggedError?,
        waiters: Int,
        at now: Date
    ) -> LoadResult? {
        guard let flight = state.flight, flight.id == id else {
            lateAnswer(id, result, at: now)
            return nil
        }
        let seconds = max(0, now.timeIntervalSince(flight.startedAt))
        switch result {
        case .success(let token):
            report(.loadSucceeded(load: id.number, waiters: waiters, seconds: seconds))
            if let late = flight.late { report(.ignoredAnswerOfOlderLoad(load: late.load)) }
            var cached = CachedToken(token, load: id.number, policy: policy, at: now)
            if !cached.isUsable(at: now) { cached.serveThoughExpired(until: now + policy.minimumLoadInterval) }
            state = .cached(cached)
            return result
        case .failure(let error):
            report(
                .loadFailed(
                    load: id.number,
                    waiters: waiters,
                    seconds: seconds,
                    errorType: logged?.type ?? "",
                    errorCode: logged?.code
                )
            )
            return giveUp(flight, failing: error, at: now)
        }
    }

    /// A load was silent past the policy's deadline: its waiters fail, and the next call loads again (T1).
    ///
    /// - Returns: the answer to all waiters; `nil` if it was not the current load any more.
    package mutating func deadlinePassed(_ id: FlightID, waiters: Int, at now: Date) -> LoadResult? {
        guard let flight = state.flight, flight.id == id else { return nil }
        let seconds = max(0, now.timeIntervalSince(flight.startedAt))
        report(.loadTimedOut(load: id.number, waiters: waiters, seconds: seconds))
        return giveUp(flight, failing: AccessTokenError.loadTimedOut, at: now)
    }

    /// A load has answered once more; only its first answer counts (D7).
    package mutating func loadAnsweredAgain(_ id: FlightID) {
        report(.ignoredRepeatedAnswer(load: id.number))
    }

    /// Whether this is the current load: if not, before it was begun, nobody needs it any more.
    package func isCurrent(_ id: FlightID) -> Bool {
        state.flight?.id == id
    }

    /// The priority with which the current load has to run; `nil` if this is not the current load.
    package func priority(of id: FlightID) -> UInt8? {
        guard let flight = state.flight, flight.id == id else { return nil }
        return flight.priority
    }

    /// Falls back on the best token that is left: a late one kept aside, else the valid one that was to be renewed
    /// (C5), else none; then no error is remembered (F2).
    ///
    /// Waiters are given that token if it is valid. An error would be wrong: they asked for a valid token, and there is
    /// one. The load may have failed for no other reason than that the late answer had used up the refresh token.
    private mutating func giveUp(_ flight: Flight, failing error: any Error, at now: Date) -> LoadResult {
        var left = cachedToken
        left?.postponeRefreshAhead(until: now + policy.minimumLoadInterval)
        if let late = flight.late {
            report(.adoptedLateAnswer(load: late.load))
            left = late
        }
        state = left.map { .cached($0) } ?? .idle(replacing: flight.replacing)
        guard let left, left.isUsable(at: now) else { return .failure(error) }
        return .success(left.token)
    }

    /// A load has answered that is not the current one any more.
    ///
    /// Its token may be the only good one, since the server may have rotated the refresh token for it: it is kept if it
    /// is of this session and nothing newer is there (T2).
    private mutating func lateAnswer(_ id: FlightID, _ result: LoadResult, at now: Date) {
        guard id.sessionEpoch == sessionEpoch else {
            return report(.ignoredAnswerOfFormerSession(load: id.number))
        }
        guard case .success(let token) = result else {
            return report(.ignoredWorthlessAnswer(load: id.number))
        }
        let late = CachedToken(token, load: id.number, policy: policy, at: now)
        guard late.isUsable(at: now), token.value != rejectedValue else {
            return report(.ignoredWorthlessAnswer(load: id.number))
        }
        let newest = max(cachedToken?.load ?? 0, state.flight?.late?.load ?? 0)
        guard newest < id.number else { return report(.ignoredAnswerOfOlderLoad(load: id.number)) }
        switch state {
        case .idle, .cached:
            state = .cached(late)
            report(.adoptedLateAnswer(load: id.number))
        case .loading(var flight):
            flight.late = late
            state = .loading(flight)
        case .renewing(let cached, var flight):
            flight.late = late
            state = .renewing(cached, flight)
        // Not reached: signing out begins another session.
        case .signedOut: break
        }
    }

    /// The value of the token that is known to be no good any more.
    private var rejectedValue: String? {
        switch state {
        case .idle(let old): old?.value
        case .loading(let flight), .renewing(_, let flight): flight.replacing?.value
        case .cached, .signedOut: nil
        }
    }
}

extension Flight {
    /// Raises the priority, and says whether that changes it.
    mutating func raise(to priority: UInt8) -> Bool {
        guard priority > self.priority else { return false }
        self.priority = priority
        return true
    }
}
