import AccessTokenAdapters
import ContractHarness

/// What callers are given.
extension Specification {
    typealias Reason = (clause: ClauseID, expected: String)

    mutating func answered(_ number: Int, _ result: LoadResult, onQueue: Bool, insideCall: Bool) {
        guard var call = facts.calls[number] else { return }
        call.answers += 1
        facts.calls[number] = call
        facts.waiting.removeAll { $0 == number }
        if call.isForgiven { return }
        guard call.answers == 1 else { return fault(.d1, "one answer to caller \(number)", "\(call.answers)") }
        judgeDelivery(call, onQueue: onQueue, insideCall: insideCall)
        let moments = moments.compactMap { moment -> Facts? in
            if moment.calls[number] != nil { return moment }
            // The caller called in a handler that changes the session, before the change or after it. Or it called at
            // some time of those that have passed, or just before the load answered.
            guard facts.isChanging || passing > 0 || step == .answerAmidCalls else { return nil }
            var moment = moment
            moment.calls[number] = call
            moment.waiting.append(number)
            return moment
        }
        switch result {
        case .success(let token): judge(token, givenTo: call, moments)
        case .failure(let error): judge(error, givenTo: call, moments)
        }
    }

    // MARK: Delivery

    private mutating func judgeDelivery(_ call: Facts.Call, onQueue: Bool, insideCall: Bool) {
        let who = "caller \(call.number)"
        if let place = waitedBefore.firstIndex(of: call.number), !call.isForced, !call.isOfCrowd {
            let before = waitedBefore[..<place]
            if let first = orderOfStep.last, !before.contains(first), step?.isCancellation != true,
                features.contains(.deliveryQueue)
            {
                unconventional(.d2, "\(who) to be answered before caller \(first)", "after it")
            }
            orderOfStep.append(call.number)
        }
        if features.contains(.deliveryQueue), !onQueue {
            fault(.d4, "\(who)'s handler to be called on the queue", "it was called elsewhere")
        }
        if insideCall { unconventional(.d3, "\(who)'s handler to be called after the call", "it is called inside it") }
    }

    // MARK: Tokens

    private mutating func judge(_ token: AccessToken, givenTo call: Facts.Call, _ moments: [Facts]) {
        var first: Reason?
        for facts in moments {
            guard let reason = refusal(of: token.value, to: call, facts) else { return }
            // At the first moments of a step, nobody knows a token that comes in it.
            // The failure of a forced load comes later than its call.
            if first == nil || first?.clause == .l1 || reason.clause == .f1 { first = reason }
        }
        guard let first else { return }
        fault(
            first.clause,
            "caller \(call.number) \(first.expected)",
            "caller \(call.number) gets \(name(token.value))",
            isInexcusable: isOfAnotherSession(token.value, givenTo: call, moments)
        )
    }

    /// At no moment of the step the token was one of the present session.
    ///
    /// A subject whose sign-outs or sign-ins are known to be of no effect hands out such tokens for that reason.
    private func isOfAnotherSession(_ value: String, givenTo call: Facts.Call, _ moments: [Facts]) -> Bool {
        moments.allSatisfy { facts in
            guard facts.isSignedIn else { return !tolerated.contains(.o3) }
            let known = facts.tokens.filter { $0.value == value }
            let isOfFormer = !known.isEmpty && known.allSatisfy { $0.session != facts.session }
            return isOfFormer && !tolerated.contains(.o6) && !call.isOfFormerSession
        }
    }

    /// Why a caller must not be given this token, if these are the facts.
    private func refusal(of value: String, to call: Facts.Call, _ facts: Facts) -> Reason? {
        let known = facts.tokens.filter { $0.value == value }
        guard !known.isEmpty else {
            let isOfSecondAnswer = name(value).hasPrefix("second answer")
            if facts.wasSetBack, !isOfSecondAnswer { return nil }
            return (isOfSecondAnswer ? .d7 : .l1, "to get what a load brings")
        }
        guard facts.isSignedIn else {
            return (clauseOfTokenAfterSignOut(for: call, facts), "to be refused after sign-out")
        }
        var last: Reason?
        for token in known {
            guard let reason = refusal(of: token, to: call, facts) else { return nil }
            // A load of a former session may bring the same value once more: then that it is kept is the fault, but for
            // the fault of a forced load.
            if last?.clause != .o2 || reason.clause == .f1 || reason.clause == .i6 { last = reason }
        }
        return last
    }

    private func refusal(of token: Facts.Token, to call: Facts.Call, _ facts: Facts) -> Reason? {
        if token.session != facts.session {
            if call.isOfFormerSession, !promises.contains(.o8), token.session == call.session { return nil }
            return (clauseOfFormerToken(for: call, facts), "to get no token of a former session")
        }
        if let clause = token.refused { return (clause, "not to get \(token.name)") }
        if token.isOdd, token.isPossible, !token.isRejected { return nil }
        if token.isRejected { return (clause(ofRejected: token, for: call, facts), "not to get a rejected token") }
        if let sure = sure(facts), sure.value != token.value { return (sure.clause, "to get \(sure.name)") }
        if !isUsable(token, facts), !isUnclear(token, facts) {
            return (clause(ofExpired: token, facts), "not to get an expired token")
        }
        if !token.isPossible { return (.t2, "to get the newest token") }
        guard call.isForced, token.knownAt < call.calledAt else { return nil }
        guard facts.calls[call.number]?.mayFail ?? call.mayFail else { return (.i6, "to get a new token") }
        return features.contains(.failedRefreshKeepsToken) ? nil : (.f1, "to be told that the forced load failed")
    }

    // MARK: Errors

    private mutating func judge(_ error: any Error, givenTo call: Facts.Call, _ moments: [Facts]) {
        // A load that waits for one of the former session may begin and be overdue while the time passes.
        let waitedForFormerLoad = moments.contains { $0.running.isEmpty && !$0.formerLoads.isEmpty }
        if let deadline = policy.loadDeadline, passing >= deadline, waitedForFormerLoad { return isUndecided = true }
        let who = "caller \(call.number)"
        let mapped = errors(error)
        let own = moments.compactMap { $0.calls[call.number] }
        // A load may have failed it before a sign-in in the same step, which answers only those who still wait.
        let mayFail = own.contains(where: \.mayFail)
        if call.isCancelled || own.contains(where: \.isCancelled) {
            if !(mapped is CancellationError), moments.allSatisfy(\.isSignedIn), !mayFail {
                unconventional(.x5, "\(who) to get CancellationError", error.inReports)
            }
            return
        }
        if call.isInsideLoad {
            if mapped as? AccessTokenError != .loadAskedItsOwnService, facts.isSignedIn {
                unconventional(.r2, "\(who) to get AccessTokenError.loadAskedItsOwnService", error.inReports)
            }
            return
        }
        if moments.contains(where: { !$0.isSignedIn }) {
            if mapped as? AccessTokenError != .signedOut, !mayFail {
                unconventional(.o5, "\(who) to get AccessTokenError.signedOut", error.inReports)
            }
            return
        }
        if let failed = own.last(where: \.mayFail) {
            if let last = failed.failures.last, !failed.failures.contains(where: { isSame($0, mapped) }) {
                let clause: ClauseID = last is AccessTokenError ? .t4 : .f3
                unconventional(clause, "\(who) to get \(last.inReports)", error.inReports)
            }
            return
        }
        if moments.contains(where: \.mayBeOver) { return }
        if own.contains(where: \.isOfFormerSession) {
            if moments.allSatisfy({ sure($0) != nil }) {
                unconventional(.o8, "\(who) to get the new session's token", error.inReports)
            }
            return
        }
        judgeWithoutReason(error, givenTo: call, moments)
    }

    /// No load of the caller's has failed, and nobody has ended the session.
    private mutating func judgeWithoutReason(_ error: any Error, givenTo call: Facts.Call, _ moments: [Facts]) {
        // Some refuse callers for a while after many loads.
        if facts.loads.count >= loadLimit { return isUndecided = true }
        let who = "caller \(call.number)"
        if let sure = sure(facts), !call.isForced {
            return fault(sure.clause, "\(who) to get \(sure.name)", error.inReports)
        }
        if facts.formerFailures.contains(where: { isSame($0, errors(error)) && !($0 is CancellationError) }) {
            return fault(.o2, "\(who) to get nothing of a former session", error.inReports)
        }
        if step?.isCancellation == true { return fault(.x4, "\(who) to wait on", error.inReports) }
        fault(clauseOfError(moments), "\(who) to wait for a load", error.inReports)
    }

    private func isSame(_ one: any Error, _ other: any Error) -> Bool {
        switch (one, other) {
        case (let one as ContractLoadError, let other as ContractLoadError): one == other
        case (let one as AccessTokenError, let other as AccessTokenError): one == other
        case (is CancellationError, is CancellationError): true
        default: false
        }
    }
}
