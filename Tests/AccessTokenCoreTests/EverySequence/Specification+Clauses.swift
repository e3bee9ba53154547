import AccessTokenCore

/// What the contract says about each input; a comment names the clauses.
extension Specification {
    mutating func retrieve(cancelled: Bool, _ expected: inout Observation) {
        callers += 1
        if !facts.isSignedIn {
            // O3
            expected.answers = [.init(caller: callers, outcome: .signedOut)]
            expected.events = [.refusedSignedOut]
        } else if let usable {
            // C1, C5
            expected.answers = [.init(caller: callers, outcome: .token(usable.value))]
            expected.events = [.answeredFromCache]
            guard facts.now >= usable.freshUntil, running == nil, !cancelled else { return }
            start(&expected)
            expected.events.append(.startedBehind(load: facts.loads.count))
        } else if cancelled {
            // X3
            expected.answers = [.init(caller: callers, outcome: .cancelled)]
            expected.events = [.refusedCancelled]
        } else {
            // S1, S2
            expected.waits = true
            facts.waiting.append(callers)
            if let running {
                if priority(ofCaller: callers) > running.priority {
                    facts.loads[running.number - 1].priority = priority(ofCaller: callers)
                    expected.raise = priority(ofCaller: callers)
                }
                expected.events = [.joined(load: running.number, waiters: facts.waiting.count)]
            } else {
                start(&expected)
                expected.events = [.led(load: facts.loads.count)]
            }
            giveUpCurrent()
        }
    }

    private mutating func start(_ expected: inout Observation) {
        let load = Load(
            number: facts.loads.count + 1,
            session: facts.session,
            replacing: facts.held.last?.value,
            startedAt: facts.now,
            priority: priority(ofCaller: callers)
        )
        facts.loads.append(load)
        expected.start = .init(load: load.number, replacing: load.replacing, priority: load.priority)
    }

    mutating func askByLoader(_ load: Int, _ expected: inout Observation) {
        guard let running, running.number == load, usable == nil else { return retrieve(cancelled: false, &expected) }
        // R1
        callers += 1
        expected.answers = [.init(caller: callers, outcome: .askedItself)]
        expected.events = [.refusedLoader]
    }

    mutating func cancel(_ caller: Int, _ expected: inout Observation) {
        // X1, X2; whoever was answered already is not answered again (D1).
        guard let running, let index = facts.waiting.firstIndex(of: caller) else { return }
        facts.waiting.remove(at: index)
        expected.answers = [.init(caller: caller, outcome: .cancelled)]
        expected.events = [.waiterCancelled(load: running.number)]
    }

    mutating func finish(_ number: Int, _ answer: Input.Answer, _ expected: inout Observation) {
        let load = facts.loads[number - 1]
        let token = token(of: load, answer)
        if let token { sessionOfToken.append((token.value, load.session)) }
        guard !load.isOver else { return finishLate(load, token, &expected) }
        let seconds = max(0, facts.now - load.startedAt)
        if let token {
            let waiters = facts.waiting.count
            expected.events = [.loadSucceeded(load: number, waiters: waiters, seconds: seconds)]
            if let late = facts.aside.last { expected.events.append(.ignored(.answerOfOlderLoad(load: late.load))) }
            facts.aside = []
            facts.held.append(token)
            end(load, answering: .token(token.value), &expected)
        } else {
            // F1, F2
            expected.events = [
                .loadFailed(load: number, waiters: facts.waiting.count, seconds: seconds, errorType: "LoadFailure")
            ]
            adoptAside(&expected)
            end(load, answering: .failure(load: number), &expected)
        }
    }

    private mutating func finishLate(_ load: Load, _ token: Token?, _ expected: inout Observation) {
        guard load.session == facts.session else {
            // O1, O2
            expected.events = [.ignored(.answerOfFormerSession(load: load.number))]
            return
        }
        // What is being replaced, or has to be, is no good as its own replacement.
        let unwanted =
            running == nil ? facts.held.last { $0.isGone && $0 == facts.held.last }?.value : running?.replacing
        guard let token, facts.now < token.usableUntil, token.value != unwanted else {
            expected.events = [.ignored(.worthlessLateAnswer(load: load.number))]
            return
        }
        // T2, S3
        let there = facts.aside + [current].compactMap(\.self)
        if there.contains(where: { $0.load >= load.number }) {
            expected.events = [.ignored(.answerOfOlderLoad(load: load.number))]
        } else if running != nil {
            facts.aside.append(token)
        } else {
            facts.held.append(token)
            expected.events = [.adoptedLateAnswer(load: load.number)]
        }
    }

    mutating func deadline(_ number: Int, _ expected: inout Observation) {
        // T1
        let load = facts.loads[number - 1]
        guard !load.isOver else { return }
        let seconds = max(0, facts.now - load.startedAt)
        expected.events = [.loadTimedOut(load: number, waiters: facts.waiting.count, seconds: seconds)]
        adoptAside(&expected)
        end(load, answering: .timedOut, &expected)
    }

    mutating func invalidate(_ value: String, _ expected: inout Observation) {
        // I1, I2
        guard let current, current.value == value else {
            expected.events = [.ignored(.invalidationOfOtherToken)]
            return
        }
        giveUpCurrent()
        expected.events = [.invalidated]
    }

    mutating func signIn(_ expected: inout Observation) {
        // O2
        expected.events = [.signedIn(waiters: facts.waiting.count)]
        facts.session += 1
        facts.isSignedIn = true
        facts.aside = []
        let value = "S\(facts.session)"
        sessionOfToken.append((value, facts.session))
        facts.held.append(token(value, load: facts.loads.count))
        end(running, answering: .token(value), &expected)
    }

    mutating func signOut(_ expected: inout Observation) {
        // O1
        expected.events = [.signedOut(waiters: facts.waiting.count)]
        facts.session += 1
        facts.isSignedIn = false
        facts.aside = []
        end(running, answering: .signedOut, &expected)
    }
}
