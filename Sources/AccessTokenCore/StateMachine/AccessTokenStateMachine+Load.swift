package import Foundation

extension AccessTokenStateMachine {
    // MARK: The load

    /// A load has answered, for the first time.
    package mutating func loadFinished(
        _ id: FlightID,
        _ result: Result<AccessToken, any Error>,
        at now: Date
    ) -> Action<Waiter> {
        guard let flight = ownedFlight(id) else { return lateAnswer(id, result, at: now) }
        var action = Action<Waiter>()
        let seconds = max(0, now.timeIntervalSince(flight.startedAt))
        switch result {
        case .success(let token):
            report(.loadSucceeded(load: id.number, waiters: waiters.count, seconds: seconds), in: &action)
            if let late = flight.late { report(.ignored(.answerOfOlderLoad(load: late.load)), in: &action) }
            state = .cached(CachedToken(token, load: id.number, policy: policy, at: now))
        case .failure(let error):
            let type = String(describing: type(of: error))
            report(
                .loadFailed(load: id.number, waiters: waiters.count, seconds: seconds, errorType: type),
                in: &action
            )
            giveUp(flight, in: &action)
        }
        endFlight(answering: result, in: &action)
        return action
    }

    /// A load was silent past the policy's deadline: its waiters fail, and the next call loads again (T1).
    package mutating func deadlinePassed(_ id: FlightID, at now: Date) -> Action<Waiter> {
        var action = Action<Waiter>()
        guard let flight = ownedFlight(id) else { return action }
        let seconds = max(0, now.timeIntervalSince(flight.startedAt))
        report(.loadTimedOut(load: id.number, waiters: waiters.count, seconds: seconds), in: &action)
        giveUp(flight, in: &action)
        endFlight(answering: .failure(AccessTokenError.loadTimedOut), in: &action)
        return action
    }

    /// A load has answered once more; only its first answer counts (D7).
    package func loadAnsweredAgain(_ id: FlightID) -> Action<Waiter> {
        var action = Action<Waiter>()
        report(.ignored(.repeatedAnswer(load: id.number)), in: &action)
        return action
    }

    /// Whether the load still owns the slot: if not, before it was begun, nobody needs it any more.
    package func owns(_ id: FlightID) -> Bool {
        ownedFlight(id) != nil
    }

    private func ownedFlight(_ id: FlightID) -> Flight? {
        switch state {
        case .loading(let flight), .renewing(_, let flight): flight.id == id ? flight : nil
        case .idle, .cached, .signedOut: nil
        }
    }

    /// Falls back on the best token that is left: a late one kept aside, else the valid one that was to be renewed
    /// (C5), else none; then no error is remembered (F2).
    private mutating func giveUp(_ flight: Flight, in action: inout Action<Waiter>) {
        if let late = flight.late {
            report(.adoptedLateAnswer(load: late.load), in: &action)
            state = .cached(late)
        } else if let cached = cachedToken {
            state = .cached(cached)
        } else {
            state = .idle(replacing: flight.replacing)
        }
    }

    /// Takes all waiters out, to be answered in the order in which they came (D2).
    mutating func endFlight(
        answering result: Result<AccessToken, any Error>,
        in action: inout Action<Waiter>
    ) {
        action.effects.append(.endFlight)
        if waiters.count > 0 { action.answer = .init(waiters: .all(waiters.takeAll()), result: result) }
    }

    /// A load that owns the slot no more has answered.
    ///
    /// Its token may be the only good one, since the server may have rotated the refresh token for it: it is kept if it
    /// is of this session and nothing newer is there (T2).
    private mutating func lateAnswer(
        _ id: FlightID,
        _ result: Result<AccessToken, any Error>,
        at now: Date
    ) -> Action<Waiter> {
        var action = Action<Waiter>()
        guard id.sessionEpoch == sessionEpoch else {
            report(.ignored(.answerOfFormerSession(load: id.number)), in: &action)
            return action
        }
        guard case .success(let token) = result else {
            report(.ignored(.worthlessLateAnswer(load: id.number)), in: &action)
            return action
        }
        let late = CachedToken(token, load: id.number, policy: policy, at: now)
        guard late.isUsable(at: now), token.value != rejectedValue else {
            report(.ignored(.worthlessLateAnswer(load: id.number)), in: &action)
            return action
        }
        switch state {
        case .idle:
            state = .cached(late)
            report(.adoptedLateAnswer(load: id.number), in: &action)
        case .cached(let cached) where cached.load < id.number:
            state = .cached(late)
            report(.adoptedLateAnswer(load: id.number), in: &action)
        case .loading(var flight) where (flight.late?.load ?? 0) < id.number:
            flight.late = late
            state = .loading(flight)
        case .renewing(let cached, var flight) where max(flight.late?.load ?? 0, cached.load) < id.number:
            flight.late = late
            state = .renewing(cached, flight)
        case .loading, .cached, .renewing, .signedOut:
            report(.ignored(.answerOfOlderLoad(load: id.number)), in: &action)
        }
        return action
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
