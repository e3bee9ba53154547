import AccessTokenCore

/// What the contract says about each input; a comment names the clauses.
extension Specification {
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
            guard facts.now >= usable.freshUntil, !isInGrace(usable), running == nil, !cancelled else { return }
            start(&expected)
            expected.events.append(.init(.refreshAheadStarted, load: facts.loads.count))
        } else if cancelled {
            // X3
            expected.answers = [.init(caller: callers, outcome: .cancelled)]
            expected.events = [.init(.refusedCancelled)]
        } else {
            // S1, S2
            expected.waits = true
            facts.waiting.append(callers)
            if let running {
                if priority(ofCaller: callers) > running.priority {
                    facts.loads[running.number - 1].priority = priority(ofCaller: callers)
                    expected.raise = priority(ofCaller: callers)
                }
                expected.events = [.init(.joined, load: running.number, waiters: facts.waiting.count)]
            } else {
                start(&expected)
                expected.events = [.init(.loadStarted, load: facts.loads.count)]
                giveUpCurrent()
            }
        }
    }

    private mutating func start(_ expected: inout Observation, priority given: UInt8? = nil) {
        let load = Load(
            number: facts.loads.count + 1,
            session: facts.session,
            replacing: facts.held.last?.value,
            startedAt: facts.now,
            priority: given ?? priority(ofCaller: callers)
        )
        facts.loads.append(load)
        expected.start = .init(load: load.number, replacing: load.replacing, priority: load.priority)
    }

    mutating func askByLoader(_ load: Int, _ expected: inout Observation) {
        guard let running, running.number == load, usable == nil else { return retrieve(cancelled: false, &expected) }
        // R1
        callers += 1
        expected.answers = [.init(caller: callers, outcome: .askedItself)]
        expected.events = [.init(.refusedLoader)]
    }

    mutating func cancel(_ caller: Int, _ expected: inout Observation) {
        // X1, X2; whoever was answered already is not answered again (D1).
        guard let running, let index = facts.waiting.firstIndex(of: caller) else { return }
        facts.waiting.remove(at: index)
        expected.answers = [.init(caller: caller, outcome: .cancelled)]
        expected.events = [.init(.waiterCancelled, load: running.number)]
    }

    mutating func finish(_ number: Int, _ answer: Input.Answer, _ expected: inout Observation) {
        let load = facts.loads[number - 1]
        let token = token(of: load, answer)
        if let token { sessionOfToken.append((token.value, load.session)) }
        guard !load.isOver else { return finishLate(load, token, &expected) }
        let seconds = max(0, facts.now - load.startedAt)
        let waiters = facts.waiting.count
        if let token {
            expected.events = [.init(.loadSucceeded, load: number, waiters: waiters, seconds: seconds)]
            if let late = facts.aside.last { expected.events.append(.init(.ignoredAnswerOfOlderLoad, load: late.load)) }
            facts.aside = []
            facts.held.append(token.servedIfExpired(at: facts.now))
            end(load, answering: .token(token.value), &expected)
        } else {
            // F1, F2
            expected.events = [
                .init(.loadFailed, load: number, waiters: waiters, seconds: seconds, errorType: "LoadFailure")
            ]
            fallBack(from: load, failing: .failure(load: number), &expected)
        }
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
        guard let token, facts.now < token.usableUntil, token.value != unwanted else {
            expected.events = [.init(.ignoredWorthlessAnswer, load: load.number)]
            return
        }
        // T2, S3
        let there = facts.aside + facts.held.suffix(1)
        if there.contains(where: { $0.load >= load.number }) {
            expected.events = [.init(.ignoredAnswerOfOlderLoad, load: load.number)]
        } else if running != nil {
            facts.aside.append(token)
        } else {
            facts.held.append(token)
            expected.events = [.init(.adoptedLateAnswer, load: load.number)]
        }
    }

    mutating func deadline(_ number: Int, _ expected: inout Observation) {
        // T1
        let load = facts.loads[number - 1]
        guard !load.isOver else { return }
        let seconds = max(0, facts.now - load.startedAt)
        expected.events = [.init(.loadTimedOut, load: number, waiters: facts.waiting.count, seconds: seconds)]
        fallBack(from: load, failing: .timedOut, &expected)
    }

    mutating func invalidate(_ value: String, _ expected: inout Observation) {
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
        beginSession()
        let value = "S\(facts.session)"
        sessionOfToken.append((value, facts.session))
        facts.held.append(token(value, load: facts.loads.count))
        end(running, answering: .token(value), &expected)
    }

    mutating func signInWithoutToken(_ expected: inout Observation) {
        beginSession()
        facts.held = []
        waitOn(&expected)
    }

    mutating func signInExpired(_ expected: inout Observation) {
        beginSession()
        let value = "X\(facts.session)"
        sessionOfToken.append((value, facts.session))
        facts.held.append(expiredToken(value, load: facts.loads.count))
        waitOn(&expected)
    }

    mutating func signOut(_ expected: inout Observation) {
        // O1
        expected.events = [.init(.signedOut, waiters: facts.waiting.count)]
        beginSession(isSignedIn: false)
        end(running, answering: .signedOut, &expected)
    }

    private mutating func beginSession(isSignedIn: Bool = true) {
        facts.session += 1
        facts.isSignedIn = isSignedIn
        facts.aside = []
    }

    /// The session has no usable token: those who wait go on to wait, for a load of the new session (O2, C6).
    private mutating func waitOn(_ expected: inout Observation) {
        expected.events = [.init(.signedIn, waiters: 0)]
        guard let former = running else { return }
        facts.loads[former.number - 1].isOver = true
        expected.ended = true
        guard !facts.waiting.isEmpty else { return }
        start(&expected, priority: former.priority)
        expected.events.append(.init(.loadStarted, load: facts.loads.count))
        giveUpCurrent()
    }
}

extension Specification.Token {
    /// A token that a load brings expired is handed out for a moment, or every call would load another one.
    fileprivate func servedIfExpired(at now: Double) -> Self {
        guard usableUntil <= now else { return self }
        var token = self
        token.grace = .init(from: now - Times.minimumLoadInterval, until: now + Times.minimumLoadInterval)
        return token
    }
}
