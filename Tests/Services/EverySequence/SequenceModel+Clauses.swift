import AccessTokenCore

/// What the contract says about each input; a comment names the clauses.
extension SequenceModel {
    mutating func retrieve(cancelled: Bool, _ expected: inout Observation) {
        callers += 1
        if !facts.isSignedIn {
            // O3
            expected.answers = [.init(caller: callers, outcome: .signedOut)]
            expected.events = [.init(.refusedSignedOut)]
        } else if let usable {
            // C1, C5
            expected.answers = [.init(caller: callers, outcome: .token(usable.value))]
            expected.events = [.init(.answeredFromCache)]
            guard facts.now >= usable.freshUntil, !isInGrace(usable), running == nil, !isHeld, !cancelled else {
                return
            }
            start(isAhead: true, &expected)
            expected.events.append(.init(.refreshAheadStarted, load: facts.loads.count))
        } else if cancelled {
            // X3
            expected.answers = [.init(caller: callers, outcome: .cancelled)]
            expected.events = [.init(.refusedCancelled)]
        } else {
            // S1, S2
            expected.waits = true
            facts.waiting.append(callers)
            if running != nil || isHeld {
                expected.events = [.init(.joined, load: awaited, waiters: facts.waiting.count)]
                giveUpCurrent()
            } else {
                startForWaiters(&expected)
            }
        }
    }

    private mutating func start(isAhead: Bool, _ expected: inout Observation) {
        let load = Load(
            number: facts.loads.count + 1,
            session: facts.session,
            replacing: facts.held.last?.value,
            startedAt: facts.now,
            isAhead: isAhead
        )
        facts.loads.append(load)
        expected.start = .init(load: load.number, replacing: load.replacing)
    }

    private mutating func startForWaiters(_ expected: inout Observation) {
        start(isAhead: false, &expected)
        expected.events.append(.init(.loadStarted, load: facts.loads.count))
        giveUpCurrent()
    }

    /// The load that callers wait for: the running one, or the next one.
    private var awaited: Int { running?.number ?? facts.loads.count + 1 }

    mutating func askByLoader(_ load: Int, _ expected: inout Observation) {
        let asked = facts.loads[load - 1]
        let waitsForItself = asked.end == nil || asked.end == .signIn && !asked.hasAnswered
        guard facts.isSignedIn, waitsForItself, usable == nil else { return retrieve(cancelled: false, &expected) }
        // R1
        callers += 1
        expected.answers = [.init(caller: callers, outcome: .askedItself)]
        expected.events = [.init(.refusedLoader)]
    }

    mutating func cancel(_ caller: Int, _ expected: inout Observation) {
        // X1, X2; whoever was answered already is not answered again (D1).
        guard let index = facts.waiting.firstIndex(of: caller) else { return }
        facts.waiting.remove(at: index)
        expected.answers = [.init(caller: caller, outcome: .cancelled)]
        expected.events = [.init(.waiterCancelled, load: awaited)]
    }

    mutating func finish(_ number: Int, _ answer: Input.Answer, _ expected: inout Observation) {
        facts.loads[number - 1].hasAnswered = true
        let load = facts.loads[number - 1]
        let token = token(of: load, answer)
        if let token { sessionOfToken.append((token.value, load.session)) }
        guard load.end == nil else {
            finishLate(load, token, &expected)
            return startHeld(&expected)
        }
        facts.loads[number - 1].end = .answer
        let seconds = max(0, facts.now - load.startedAt)
        let waiters = facts.waiting.count
        if let token {
            expected.events = [.init(.loadSucceeded, load: number, waiters: waiters, seconds: seconds)]
            take(token, of: load, &expected)
        } else {
            // F1, F2
            expected.events = [
                .init(.loadFailed, load: number, waiters: waiters, seconds: seconds, errorType: "LoadFailure")
            ]
            fallBack(failing: .failure(load: number), &expected)
        }
    }

    private mutating func take(_ token: Token, of load: Load, _ expected: inout Observation) {
        let isRejected = load.rejected.contains(token.value)
        let isExpired = token.usableUntil <= facts.now
        let isValidOneLeft =
            usable != nil || facts.aside.last.map { facts.now < $0.usableUntil && !$0.isRejected } == true
        if isRejected || isExpired && isValidOneLeft {
            expected.events.append(.init(.ignoredWorthlessAnswer, load: load.number))
        }
        // C8: a valid token is not replaced by one that is no good.
        if isRejected || isExpired, isValidOneLeft { return fallBack(failing: .unexpected("none"), &expected) }
        if let late = facts.aside.last { expected.events.append(.init(.ignoredAnswerOfOlderLoad, load: late.load)) }
        facts.aside = []
        facts.held.append(token.servedIfExpired(at: facts.now))
        guard isRejected else { return answerAll(.token(token.value), &expected) }
        // I9
        giveUpCurrent()
        if !facts.waiting.isEmpty { startForWaiters(&expected) }
    }

    private mutating func finishLate(_ load: Load, _ token: Token?, _ expected: inout Observation) {
        guard load.session == facts.session else {
            // O1, O2
            expected.events = [.init(.ignoredAnswerOfFormerSession, load: load.number)]
            return
        }
        // What is being replaced, or has to be, is no good as its own replacement.
        let unwanted =
            running == nil ? facts.held.last { $0.isGone && $0 == facts.held.last }?.value : running?.replacing
        let isUnwanted = [unwanted, current?.value == load.replacing ? nil : load.replacing].contains(token?.value)
        guard let token, facts.now < token.usableUntil, !isUnwanted, !load.rejected.contains(token.value) else {
            expected.events = [.init(.ignoredWorthlessAnswer, load: load.number)]
            return
        }
        // T2, S3
        let there = facts.aside + facts.held.suffix(1)
        if there.contains(where: { $0.load >= load.number }) {
            expected.events = [.init(.ignoredAnswerOfOlderLoad, load: load.number)]
        } else if running != nil {
            facts.aside.append(token)
            expected.events = [.init(.keptLateAnswer, load: load.number)]
        } else {
            facts.held.append(token)
            expected.events = [.init(.adoptedLateAnswer, load: load.number)]
        }
    }

    mutating func deadline(_ number: Int, _ expected: inout Observation) {
        // T1
        let load = facts.loads[number - 1]
        guard !load.hasAnswered, load.end != .deadline else { return }
        facts.loads[number - 1].end = .deadline
        guard load.end == nil else { return startHeld(&expected) }
        let seconds = max(0, facts.now - load.startedAt)
        expected.events = [.init(.loadTimedOut, load: number, waiters: facts.waiting.count, seconds: seconds)]
        fallBack(failing: .timedOut, &expected)
    }

    mutating func invalidate(_ value: String, _ expected: inout Observation) {
        // I9
        let isKnown =
            facts.isSignedIn && facts.held.last.map { $0.isGone && $0.value == value } == true
            && running?.isAhead != true
        for index in facts.loads.indices where !isKnown && facts.loads[index].session == facts.session {
            if !facts.loads[index].hasAnswered { facts.loads[index].rejected.insert(value) }
        }
        for index in facts.aside.indices where facts.aside[index].value == value {
            facts.aside[index].isRejected = true
        }
        // I1, I2
        guard let current, current.value == value else {
            expected.events = [.init(.ignoredInvalidation)]
            return
        }
        giveUpCurrent()
        expected.events = [.init(.invalidated)]
    }

    mutating func signIn(_ expected: inout Observation) {
        // O2
        expected.events = [.init(.signedIn, waiters: facts.waiting.count)]
        beginSession(endingLoadsBy: .signIn)
        let value = "S\(facts.session)"
        sessionOfToken.append((value, facts.session))
        facts.held.append(token(value, load: facts.loads.count))
        answerAll(.token(value), &expected)
    }

    mutating func signInWithoutToken(_ expected: inout Observation) {
        beginSession(endingLoadsBy: .signIn)
        facts.held = []
        waitOn(&expected)
    }

    mutating func signInExpired(_ expected: inout Observation) {
        beginSession(endingLoadsBy: .signIn)
        let value = "X\(facts.session)"
        sessionOfToken.append((value, facts.session))
        facts.held.append(expiredToken(value, load: facts.loads.count))
        waitOn(&expected)
    }

    mutating func signOut(_ expected: inout Observation) {
        // O1
        expected.events = [.init(.signedOut, waiters: facts.waiting.count)]
        for index in facts.loads.indices where facts.loads[index].end == .signIn { facts.loads[index].end = .signOut }
        beginSession(endingLoadsBy: .signOut)
        answerAll(.signedOut, &expected)
    }

    private mutating func beginSession(endingLoadsBy end: Load.End) {
        facts.session += 1
        facts.isSignedIn = end == .signIn
        facts.aside = []
        if let running { facts.loads[running.number - 1].end = end }
    }

    /// The session has no usable token: those who wait go on to wait, for a load of the new session (O2, O9, C6).
    private mutating func waitOn(_ expected: inout Observation) {
        expected.events = [.init(.signedIn, waiters: 0)]
        if !facts.waiting.isEmpty { giveUpCurrent() }
    }

    /// The load that those who wait were held for is over, or past its deadline (O9).
    private mutating func startHeld(_ expected: inout Observation) {
        if running == nil, !isHeld, !facts.waiting.isEmpty { startForWaiters(&expected) }
    }
}

extension SequenceModel.Token {
    /// A token that a load brings expired is handed out for a moment, or every call would load another one.
    fileprivate func servedIfExpired(at now: Double) -> Self {
        guard usableUntil <= now else { return self }
        var token = self
        token.grace = .init(from: now - Times.minimumLoadInterval, until: now + Times.minimumLoadInterval)
        return token
    }
}
