import AccessTokenAdapters

/// What loads do.
extension Specification {
    /// A load begins; `open` are the others that have not answered.
    mutating func loadStarted(_ number: Int, at time: Double, beside open: [Int], replacing: String?) {
        let sure = sure(facts)
        let isForced = facts.waiting.contains { facts.calls[$0]?.isForced == true }
        var load = Facts.Load(
            number: number,
            session: facts.session,
            startedSince: time - passing,
            startedAt: time,
            startedAtMoment: moment,
            replacingWorthless: sure == nil ? replacing : nil,
            isForced: isForced,
            isAhead: sure != nil && !isForced,
            alone: clauseOfSecondLoad(isForced: isForced, sure)
        )
        load.mayBeOfFormerSession = facts.isChanging
        judge(load, beside: open, sure, replacing: replacing)
        facts.loads.append(load)
        // A timer that fires while time passes may begin a load, and so early that this load is overdue when the time
        // has passed: nobody can say whether its waiters are told.
        if let deadline = policy.loadDeadline, passing > 2 * deadline { isUndecided = true }
        changed()
    }

    private mutating func judge(_ load: Facts.Load, beside open: [Int], _ sure: Facts.Token?, replacing: String?) {
        let number = load.number
        // A load that begins in a task may be of the session before the change.
        if facts.isChanging { return }
        guard facts.isSignedIn else {
            return fault(.o3, "no load after sign-out", "load \(number) was started")
        }
        let needy = facts.waiting.compactMap { facts.calls[$0] }.filter { !$0.isCancelled && !$0.isInsideLoad }
        if let other = facts.running.first(where: { open.contains($0.number) && !$0.mayBeOfFormerSession }) {
            let observed = "load \(number) was started while load \(other.number) was running"
            return fault(clause(ofLoadBeside: other, for: needy), "one load at a time", observed)
        }
        if mustWaitForFormerLoad, let other = facts.formerLoads.first(where: { open.contains($0.number) }) {
            let observed = "load \(number) was started while load \(other.number) was running"
            return fault(.o9, "no load until the one of the former session has ended", observed)
        }
        // Some try again at once what has failed, a load ahead too.
        if facts.mayLoadAhead || facts.mayLoadUnasked || !isStrict && facts.justFailed != nil { return }
        if let sure, !load.isForced {
            guard isFresh(sure, facts) else { return }
            return fault(sure.clause, "no load while \(sure.name) is valid", "load \(number) was started")
        }
        let isOdd = facts.tokens.contains { $0.isOdd && $0.isPossible && $0.session == facts.session }
        if needy.isEmpty, !isOdd, !facts.waiting.contains(where: { facts.calls[$0]?.isInsideLoad == true }) {
            return fault(clauseOfUselessLoad, "no load, since nobody waits", "load \(number) was started")
        }
        // That the loader is told is a convention of its own (I4).
        let isTold = features.contains(.invalidation) && promises.contains(.i4)
        if isTold, let (value, clause) = facts.replaced, sure == nil, replacing != value {
            let observed = replacing.map { "it replaces \(name($0))" } ?? "load(replacing: nil)"
            unconventional(clause, "load \(number) to be told that it replaces \(name(value))", observed)
        }
        facts.replaced = nil
    }

    /// A load has ended, for the first time.
    mutating func loadEnded(_ number: Int, _ token: AccessToken?, called name: String, _ error: (any Error)?) {
        guard let index = facts.loads.firstIndex(where: { $0.number == number }) else { return }
        let load = facts.loads[index]
        facts.loads[index].isRunning = false
        facts.loads[index].hasEnded = true
        let isFormer = load.session != facts.session
        let isLate = load.isTimedOut && !isFormer
        if isFormer { blame(promises.contains(.o9) ? .endOfAwaitedFormerLoad : .endOfFormerLoad) }
        if isLate { blame(.lateEnd) }
        if !isFormer, !isLate { facts.disturbance = load.disturbedBy.map { ($0, number) } }
        if let token {
            let new = newToken(token, name, session: load.session, load: number)
            if isFormer {
                facts.tokens.insert(new, at: 0)
            } else if isLate {
                bringLate(new)
            } else {
                bring(new, load)
            }
        } else if let error, !isFormer {
            if !isLate {
                loadFailed(error, blaming: error is CancellationError ? .cancelledLoad : .failure)
            }
            if (error as? ContractLoadError)?.kind == .permanent {
                facts.isRefused = true
                if mayEndSession(number) {
                    facts.mayBeOver = true
                    facts.nothingIsSure()
                }
            }
        }
        if step == .answerAmidCalls { facts.sureToken(isSureBy: tolerated.contains(.c1) ? .c1 : .s8) }
        // Waiters whom a sign-in has not answered may get what the load of the former session brings.
        if isFormer {
            if let error { facts.formerFailures.append(error) }
            for number in facts.waiting where facts.calls[number]?.isOfFormerSession == true {
                facts.calls[number]?.mayFail = true
                if let error { facts.calls[number]?.failures.append(error) }
            }
        }
        changed()
    }

    /// Some end a session whose credential is refused for good: those without a valid token, or those that say so, and
    /// none for a load that is older than the token.
    private func mayEndSession(_ number: Int) -> Bool {
        let isOutdated = facts.tokens.contains { $0.session == facts.session && $0.wasCurrent && $0.load > number }
        return !isStrict && !isOutdated && (features.contains(.refusalEndsSession) || sure(facts) == nil)
    }

    private mutating func bring(_ brought: Facts.Token, _ load: Facts.Load) {
        var new = brought
        let known = facts.tokens.filter { $0.value == new.value }
        // Some look at the value alone of a token that was there before.
        new.isOdd = new.isOdd || !known.isEmpty || new.expiration.map { $0 <= facts.now } ?? false
        new.wasCurrent = true
        let waiters = facts.waiting.compactMap { facts.calls[$0] }.filter { !$0.isCancelled && !$0.isForgiven }
        facts.replaced = nil
        facts.mayBeOver = false
        facts.isRefused = false
        facts.followsRefusal = false
        facts.hadUselessLoadAhead = false
        if let again = known.last(where: { $0.session == facts.session }), promises.contains(.i9), !waiters.isEmpty,
            again.value != load.replacingWorthless, again.expiration == new.expiration,
            let rejection = again.rejectedAt,
            rejection > load.startedAtMoment
        {
            return bringAgain(new)
        }
        if load.mayBeOfFormerSession {
            facts.nothingIsSure()
        } else if new.isOdd {
            facts.nothingIsSure()
            facts.waitersMayFail(with: nil)
            facts.mayLoadUnasked = true
            blame(.newToken)
        } else {
            for index in facts.tokens.indices where facts.tokens[index].session == facts.session {
                facts.tokens[index].sure = nil
                facts.tokens[index].isPossible = false
            }
            blame(.newToken)
            new.sure = clause(ofBrought: new, by: load, for: waiters)
        }
        // Some replace at once what lives shorter than their window.
        if new.isBrief, !isStrict { facts.mayLoadUnasked = true }
        facts.tokens.append(new)
        blame(waiters.isEmpty ? .answerForNobody : .answerForWaiters)
    }

    /// The load brings the token that was rejected while the load ran: the next one is told of that (I9).
    private mutating func bringAgain(_ brought: Facts.Token) {
        var new = brought
        new.rejectedAt = moment
        new.refused = .i9
        new.isPossible = false
        new.isOdd = false
        facts.nothingIsSure()
        facts.tokens.append(new)
        facts.replaced = (new.value, .i9)
        blame(.rejectedAnswer)
    }

    private mutating func bringLate(_ brought: Facts.Token) {
        var new = brought
        let known = facts.tokens.filter { $0.value == new.value }
        let newer = facts.tokens.filter { $0.session == facts.session && $0.wasCurrent && $0.load >= new.load }
        new.isOdd = new.isOdd || !known.isEmpty || new.expiration.map { $0 <= facts.now } ?? false
        facts.replaced = nil
        guard newer.allSatisfy(\.isRejected) else {
            new.isPossible = false
            facts.tokens.insert(new, at: 0)
            return
        }
        // While another load is running it may be set aside, and behind a late one of a newer load as well, unless that
        // one was never any use.
        let isOlder = facts.tokens.contains {
            $0.session == facts.session && $0.load > new.load && ($0.isRejected || !$0.isOdd)
        }
        // A token that is valid for a moment more may be kept for as long.
        let isAlone = !facts.tokens.contains {
            $0.session == facts.session && $0.isPossible && !$0.isRejected
                && (isUsable($0, facts) || isUnclear($0, facts))
        }
        let isClear =
            newer.isEmpty && !isOlder && facts.running.isEmpty && !new.isOdd && !facts.mayBeOver && isAlone
        if isClear, features.contains(.currentToken) {
            new.sure = .t2
        } else if !new.isOdd {
            // The older one or the late one.
            facts.sureToken(isSureBy: nil)
        }
        facts.tokens.append(new)
    }

    /// A load failed, or was silent past its deadline; those who wait for it are told.
    mutating func loadFailed(_ error: any Error, blaming blame: Blame) {
        facts.waitersMayFail(with: error)
        facts.justFailed = error
        facts.hadUselessLoadAhead = true
        // The reason why there is no token stays while there is one.
        let lack = facts.lack
        self.blame(blame) { !$0.isRejected }
        if sure(facts) != nil { facts.lack = lack }
    }

    /// The load that answered last answers once more.
    mutating func loadAnsweredAgain() {
        blame(.secondAnswer)
        changed()
    }

    /// The service has cancelled these loads, although somebody could still use what they bring.
    mutating func loadsCancelled(_ numbers: [Int]) {
        for index in facts.loads.indices where numbers.contains(facts.loads[index].number) {
            let load = facts.loads[index]
            facts.loads[index].hasEnded = true
            guard load.isRunning else { continue }
            facts.loads[index].isRunning = false
            if load.session == facts.session, !load.mayBeOfFormerSession, !facts.isDropped {
                fault(.x2, "load \(load.number) to go on", "the service has cancelled it")
            }
        }
    }

    /// Whether a second answer of this load has to be reported (D11).
    func reportsSecondAnswer(of load: Int) -> Bool {
        facts.session == 1 && facts.loads.contains { $0.number == load && !$0.isTimedOut }
    }
}
