/// Which clause is blamed from an event on, until the next event: that event must not have disturbed what goes on.
///
/// The table is the one place where an event chooses clauses. What is not said stays as it was.
struct Blame {
    /// A load begins beside one that is running.
    var secondLoad: ClauseID?
    /// The token that callers must be given is not given to them.
    var lostToken: ClauseID?
    /// There is no token, and the next caller gets no load.
    var missingLoad: ClauseID?
    /// A caller that waits is left without an answer and without a load.
    var missingAnswer: ClauseID?

    static let start = Blame(missingLoad: .c11)
    static let forcedCall = Blame(secondLoad: .i7)
    static let cancellation = Blame(secondLoad: .x2, missingAnswer: .x1)
    static let rejectionOfToken = Blame(missingLoad: .i1)
    static let rejectionOfNewestToken = Blame(secondLoad: .i5, missingAnswer: .i5)
    static let rejectionOfOlderToken = Blame(secondLoad: .i2, missingAnswer: .i2)
    static let rejectionOfOtherToken = Blame(lostToken: .i2)
    static let endOfFormerLoad = Blame(secondLoad: .s5, lostToken: .o2, missingAnswer: .o2)
    /// The same where the new session's load had to wait for it.
    static let endOfAwaitedFormerLoad = Blame(secondLoad: .s5, lostToken: .o2, missingAnswer: .o9)
    static let lateEnd = Blame(secondLoad: .s6, lostToken: .t2, missingAnswer: .t2)
    static let answerForWaiters = Blame(missingAnswer: .s1)
    static let answerForNobody = Blame(missingAnswer: .l1)
    static let newToken = Blame(missingLoad: .c10)
    /// The answer is a token that was rejected while the load ran.
    static let rejectedAnswer = Blame(missingLoad: .i9, missingAnswer: .i9)
    static let secondAnswer = Blame(secondLoad: .d7, lostToken: .d7, missingAnswer: .d7)
    static let failure = Blame(lostToken: .c8, missingLoad: .f2, missingAnswer: .f1)
    static let cancelledLoad = Blame(lostToken: .c8, missingLoad: .f2, missingAnswer: .f4)
    static let timeOut = Blame(lostToken: .c8, missingLoad: .t3, missingAnswer: .t1)
    static let signIn = Blame(missingLoad: .c10, missingAnswer: .d1)
    /// The same where those who wait are promised the new session's token.
    static let signInForWaiters = Blame(missingLoad: .c10, missingAnswer: .o8)
    static let signOut = Blame(missingAnswer: .o4)
    static let drop = Blame(missingAnswer: .d6)
    static let endOfToken = Blame(missingLoad: .c10)
    static let leeway = Blame(missingLoad: .c2)
}

extension Specification {
    /// Blames these clauses from now on.
    mutating func blame(_ blame: Blame, ofToken isConcerned: (Facts.Token) -> Bool = { _ in true }) {
        if let clause = blame.secondLoad { facts.eachRunningLoad(isAloneBy: clause, known: tolerated) }
        if let clause = blame.lostToken { facts.sureToken(isSureBy: clause, if: isConcerned) }
        // A session that begins after a refusal must not be over with its first token.
        if let clause = blame.missingLoad { facts.lack = facts.followsRefusal ? .f6 : clause }
        if let clause = blame.missingAnswer { facts.end = clause }
    }
}

/// Which clause is blamed for a fault that several clauses forbid: the first one that applies.
extension Specification {
    // MARK: Loads

    /// For a load beside one that begins now.
    func clauseOfSecondLoad(isForced: Bool, _ sure: Facts.Token?) -> ClauseID {
        if isForced { return .i7 }
        return sure == nil ? .s2 : .c5
    }

    /// For a load that was begun beside another one.
    func clause(ofLoadBeside other: Facts.Load, for callers: [Facts.Call]) -> ClauseID {
        other.alone == .s2 && callers.contains(where: \.isNested) ? .s3 : other.alone
    }

    /// For a load that nobody waits for.
    var clauseOfUselessLoad: ClauseID {
        facts.waiting.contains { facts.calls[$0]?.isCancelled == true } ? .x3 : .f5
    }

    // MARK: Tokens

    /// For not handing out a token that a load has brought.
    func clause(ofBrought token: Facts.Token, by load: Facts.Load, for waiters: [Facts.Call]) -> ClauseID {
        if waiters.isEmpty { return load.isAhead ? .c9 : .x2 }
        if token.expiration == nil { return .c3 }
        return token.isShort ? .c4 : .c1
    }

    /// For not handing out the token of a sign-in.
    var clauseOfSignIn: ClauseID {
        if facts.followsRefusal { return .f6 }
        return features.contains(.signOut) ? .o6 : .o2
    }

    /// For a token of a former session.
    func clauseOfFormerToken(for call: Facts.Call, _ facts: Facts) -> ClauseID {
        if call.isOfFormerSession, promises.contains(.o8) { return .o8 }
        return promises.contains(.o9) && facts.end == .o9 ? .o9 : .o2
    }

    /// For a token after the sign-out.
    func clauseOfTokenAfterSignOut(for call: Facts.Call, _ facts: Facts) -> ClauseID {
        call.session == facts.session ? .o3 : .o1
    }

    /// For a token that was rejected.
    func clause(ofRejected token: Facts.Token, for call: Facts.Call, _ facts: Facts) -> ClauseID {
        if token.isRejectedWhileGiven { return .i8 }
        let isOld = token.knownAt < call.calledAt || !facts.waiting.contains(call.number)
        return isOld && call.isNested ? .i8 : .i1
    }

    /// For a token that is not usable any more.
    func clause(ofExpired token: Facts.Token, _ facts: Facts) -> ClauseID {
        if facts.now == token.usableUntil, policy.leeway > 0 { return .c7 }
        return token.expiration.map { $0 <= facts.now } ?? true ? .c6 : .c2
    }

    // MARK: Answers

    /// For an error that no load of the caller's and no end of the session explains.
    func clauseOfError(_ moments: [Facts]) -> ClauseID {
        moments.last.map { $0.running.isEmpty ? $0.end : $0.lack } ?? facts.lack
    }

    /// For a cancelled caller without an answer.
    var clauseOfCancelledCaller: ClauseID { if case .cancel = step { .x1 } else { .x3 } }

    /// For a caller without an answer after sign-out.
    func clauseOfSilenceAfterSignOut(to call: Facts.Call) -> ClauseID {
        if call.session == facts.session { return .o3 }
        return facts.end == .o4 || step == .callRightAfter(.signOut) ? .o4 : .d1
    }

    /// For a caller without an answer although there is a token.
    func clauseOfSilence(to call: Facts.Call, beside sure: Facts.Token) -> ClauseID {
        if call.isOfFormerSession { return clauseOfWaiters }
        if let disturbance = facts.disturbance, disturbance.load == sure.load { return disturbance.clause }
        if facts.end == .s1 { return .s1 }
        return features.contains(.refreshAhead) && !facts.running.isEmpty ? .c5 : sure.clause
    }

    /// For a caller without an answer, without a token and without a load.
    func clauseOfSilence(to call: Facts.Call) -> ClauseID {
        if call.isOfFormerSession { return clauseOfWaiters }
        if let disturbance = facts.disturbance { return disturbance.clause }
        let isExplained = [.f1, .t1, .d6, .i9, .o9].contains(facts.end)
        return call.isForced && !isExplained ? .i6 : facts.end
    }

    /// For those who wait when a session begins: that they get its token is a convention.
    var clauseOfWaiters: ClauseID { promises.contains(.o8) ? .o8 : .d1 }
}
