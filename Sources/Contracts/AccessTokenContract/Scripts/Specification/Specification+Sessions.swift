import AccessTokenAdapters

/// What sessions and clocks do.
extension Specification {
    /// The service is made with this token.
    mutating func start(with token: AccessToken, called name: String) {
        var new = newToken(token, name, session: facts.session, load: 0)
        if isUsable(new, facts) { new.sure = .c11 } else { new.refused = .c11 }
        new.wasCurrent = true
        facts.tokens.append(new)
        blame(.start)
        changed()
    }

    mutating func signIn(_ token: AccessToken, called name: String) {
        let wasSignedIn = facts.isSignedIn
        if wasSignedIn { facts.replacedSessions.insert(facts.session) }
        beginSession()
        facts.isSignedIn = true
        (facts.followsRefusal, facts.isRefused) = (facts.isRefused, false)
        for number in facts.waiting {
            facts.calls[number]?.isOfFormerSession = true
            facts.calls[number]?.mayFail = false
            facts.calls[number]?.failures = []
        }
        var new = newToken(token, name, session: facts.session, load: facts.loads.count)
        // A token that has expired is never to be handed out.
        let hasExpired = new.expiration.map { $0 <= facts.now } ?? false
        new.sure = hasExpired ? nil : clauseOfSignIn
        new.isPossible = !hasExpired || !features.contains(.expiry)
        new.wasCurrent = true
        facts.tokens.append(new)
        facts.beginning = wasSignedIn ? .overAnother(withExpiredToken: hasExpired) : .afterSignOut
        blame(promises.contains(.o8) ? .signInForWaiters : .signIn)
        facts.mayLoadUnasked = true
        changed()
    }

    mutating func signOut() {
        if facts.isSignedIn { facts.signOuts += 1 }
        facts.mostSignOuts += 1
        beginSession()
        facts.isSignedIn = false
        facts.followsRefusal = false
        facts.replacedSessions = []
        blame(.signOut)
        changed()
    }

    /// The session changes inside a handler: at some moment until the step's end.
    ///
    /// Of a sign-in and another change nobody can say which one was the last: each may wait at the subject's door.
    mutating func isChangedInside(bySignIn isSignIn: Bool) {
        if facts.isChanging, isSignIn || facts.isSigningIn { isUndecided = true }
        facts.isChanging = true
        facts.isSigningIn = facts.isSigningIn || isSignIn
    }

    private mutating func beginSession() {
        facts.session += 1
        facts.nothingIsSure()
        facts.replaced = nil
        facts.disturbance = nil
        facts.hadUselessLoadAhead = false
        facts.mayBeOver = false
    }

    /// Whether the load of a session that began by this sign-in waits until the former session's load has ended (O9).
    var mustWaitForFormerLoad: Bool {
        guard promises.contains(.o9), case .overAnother(withExpiredToken: true) = facts.beginning else { return false }
        return facts.formerLoads.contains { facts.replacedSessions.contains($0.session) && !mayBeOverdue($0) }
    }

    /// Good services differ in this, but for what O9 says.
    var mayWaitForFormerLoad: Bool {
        facts.formerLoads.contains { !isStrict || facts.replacedSessions.contains($0.session) }
    }

    /// Nobody may wait any more for a load of a former session: each is silent past its deadline.
    var isFormerLoadOverdue: Bool { facts.formerLoads.allSatisfy(isOverdue) }

    private func isOverdue(_ load: Facts.Load) -> Bool {
        policy.loadDeadline.map { load.startedAt + $0 <= facts.elapsed } ?? false
    }

    private func mayBeOverdue(_ load: Facts.Load) -> Bool {
        policy.loadDeadline.map { load.startedSince + $0 <= facts.elapsed } ?? false
    }

    // MARK: Time

    mutating func pass(_ seconds: Double) {
        passing = seconds
        // Who is answered while the time passes may be given what was valid before.
        changed()
        facts.now += seconds
        facts.elapsed += seconds
        facts.mayLoadUnasked = true
        // Nobody can say whether the waiters of a load are told that began at some time of another step.
        if facts.running.contains(where: { mayBeOverdue($0) && !isOverdue($0) }) { isUndecided = true }
        endOverdueLoads()
        if let token = facts.tokens.last(where: { $0.sure != nil }), !isUsable(token, facts) {
            let isEarly = token.expiration.map { facts.now < $0 } ?? false
            blame(isEarly ? .leeway : token.sure == .c11 ? .start : .endOfToken)
        }
        changed()
    }

    /// The waiters of loads that are silent past their deadlines are told.
    mutating func endOverdueLoads() {
        for index in facts.loads.indices {
            let load = facts.loads[index]
            guard load.isRunning, load.session == facts.session, isOverdue(load) else { continue }
            facts.loads[index].isRunning = false
            facts.loads[index].isTimedOut = true
            loadFailed(AccessTokenError.loadTimedOut, blaming: .timeOut)
        }
    }

    /// Somebody sets the clock back: what becomes of tokens then is left open.
    mutating func setBack(_ seconds: Double) {
        facts.now -= seconds
        facts.wasSetBack = true
        for index in facts.tokens.indices {
            facts.tokens[index].isOdd = true
            facts.tokens[index].isPossible = true
            facts.tokens[index].sure = nil
            facts.tokens[index].refused = nil
        }
        facts.mayLoadUnasked = true
        changed()
    }

    mutating func drop() {
        facts.isDropped = true
        blame(.drop)
        changed()
    }
}
