import AccessTokenAdapters

/// What is missing when everything has come to rest, and what the service shows then.
extension Specification {
    /// Callers whom a subject that breaks these clauses leaves waiting: what comes later is not their fault.
    static let forgivable: Set<ClauseID> = [.o4, .o8, .r1, .x1, .x3]

    /// Who should have been answered or be waiting for a load that is not there, and a load ahead that is not there.
    func missing() -> Fault? {
        if isSpoiled { return nil }
        for number in facts.waiting {
            guard let call = facts.calls[number], let fault = missing(call), !isForgivable(fault) else { continue }
            return fault
        }
        return missingLoadAhead()
    }

    /// Nobody waits any more for what the subject is known to leave out.
    mutating func forgive() {
        for number in facts.waiting {
            guard let call = facts.calls[number], let fault = missing(call), isForgivable(fault) else { continue }
            facts.calls[number]?.isForgiven = true
        }
        facts.waiting.removeAll { facts.calls[$0]?.isForgiven == true }
    }

    private func isForgivable(_ fault: Fault) -> Bool {
        tolerated.contains(fault.clause) && Self.forgivable.contains(fault.clause)
    }

    private func missing(_ call: Facts.Call) -> Fault? {
        let who = "caller \(call.number)"
        func noAnswer(_ clause: ClauseID, _ expected: String) -> Fault {
            Fault(clause: clause, expected: "\(who) \(expected)", observed: "no answer; \(facts.situation)")
        }
        if call.isCancelled {
            guard features.contains(.cancellation) else { return nil }
            return noAnswer(clauseOfCancelledCaller, "to be answered at once, since it was cancelled")
        }
        if call.isInsideLoad { return noAnswer(.r1, "to get an error, since it is the loader") }
        if facts.isDropped {
            return facts.running.isEmpty && facts.formerLoads.isEmpty ? noAnswer(.d6, "to get an answer") : nil
        }
        if !facts.isSignedIn {
            return noAnswer(clauseOfSilenceAfterSignOut(to: call), "to get an error")
        }
        // Some let those who waited before a sign-in wait on for the load of the former session.
        if call.isOfFormerSession, !promises.contains(.o8),
            facts.loads.contains(where: { $0.isRunning || $0.isTimedOut && !$0.hasEnded })
        {
            return nil
        }
        if let sure = sure(facts), !call.isForced, !facts.running.contains(where: \.isForced) {
            return noAnswer(clauseOfSilence(to: call, beside: sure), "to get \(sure.name)")
        }
        guard facts.running.isEmpty else { return nil }
        // A valid token does not answer a forced call of its session, which may wait for the former load as well.
        let needsLoad = call.isForced && !call.isOfFormerSession || sure(facts) == nil
        if mustWaitForFormerLoad || mayWaitForFormerLoad && !isFormerLoadOverdue && needsLoad { return nil }
        return noAnswer(clauseOfSilence(to: call), "to be answered, or a load to be started")
    }

    private func missingLoadAhead() -> Fault? {
        // Some start no load for a while after many loads; a caller who waits is never left without an answer for that.
        guard facts.loads.count < loadLimit, facts.mustLoadAhead, facts.isSignedIn, !facts.isDropped,
            !facts.hadUselessLoadAhead, facts.running.isEmpty, !mayWaitForFormerLoad, let token = sure(facts),
            !isFresh(token, facts), !token.isBrief
        else { return nil }
        if let last = facts.loads.last, last.session == facts.session, last.isTimedOut { return nil }
        return Fault(
            clause: .c5,
            expected: "a load ahead of the end of \(token.name)",
            observed: "no load; \(facts.situation)"
        )
    }

    /// What the service shows as its current token.
    mutating func current(_ token: AccessToken?) {
        if let token {
            let observed = "it is \(name(token.value))"
            func wrong(_ clause: ClauseID, _ which: String, isInexcusable: Bool = false) {
                fault(
                    clause,
                    "no current token \(which)",
                    observed,
                    isHarmless: true,
                    isInexcusable: isInexcusable && tolerated.isDisjoint(with: [.o3, .o6])
                )
            }
            guard facts.isSignedIn else { return wrong(.o1, "after sign-out", isInexcusable: true) }
            let known = facts.tokens.filter { $0.value == token.value }
            // The service had it before the script.
            if known.isEmpty, facts.wasSetBack { return }
            if known.contains(where: { $0.isOdd && $0.refused == nil && !$0.isRejected }) { return }
            if known.allSatisfy({ $0.session != facts.session }) {
                return wrong(.o2, "of a former session", isInexcusable: true)
            }
            if known.allSatisfy(\.isRejected) {
                return wrong(known.contains(where: \.isRejectedWhileGiven) ? .i8 : .i1, "that was rejected")
            }
            if features.contains(.expiry), known.allSatisfy({ $0.expiration.map { $0 <= facts.now } ?? false }) {
                return wrong(.c6, "after its expiration")
            }
        }
        guard let sure = sure(facts), !facts.running.contains(where: \.isForced), sure.value != token?.value else {
            return
        }
        let observed = token.map { "it is \(name($0.value))" } ?? "there is none"
        fault(sure.clause, "\(sure.name) to be the current token", observed)
    }

    // MARK: Forgetting

    /// The loader may be told to forget a session when the session's loads have answered.
    func isForgotten(_ count: Int) -> Bool {
        isSpoiled || !promises.contains(.o7) || count >= facts.signOuts || !facts.formerLoads.isEmpty
    }

    mutating func forgotten(_ count: Int) {
        guard facts.formerLoads.isEmpty, !(facts.signOuts...facts.mostSignOuts).contains(count) else { return }
        let observed = "\(count) times for \(facts.signOuts) sign-outs"
        unconventional(.o7, "the loader to be told once to forget the session", observed)
        facts.signOuts = count
        facts.mostSignOuts = max(count, facts.mostSignOuts)
    }
}
