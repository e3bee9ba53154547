import AccessTokenCore

/// The contract's clauses written down as plainly as possible, to be compared with the state machine.
///
/// It keeps lists of everything that ever happened, and answers each question by looking through them. It has no
/// states, and knows nothing of how the state machine comes to its decisions.
struct SequenceModel {
    struct Load: Equatable {
        let number: Int
        let session: Int
        let replacing: String?
        let startedAt: Double
        /// It was started while the token that it replaces was valid.
        let isAhead: Bool
        /// Why its answer counts no more, or only if nothing newer is there.
        var end: End?
        /// The loader is not running it any more.
        var hasAnswered = false
        /// The values that were rejected since it was started, but for those that its loader was told of.
        var rejected: Set<String> = []

        enum End { case answer, deadline, signIn, signOut }
    }

    struct Token: Equatable {
        let value: String
        /// The load that brought it; at sign-in the last one before, since all of those are older.
        let load: Int
        var freshUntil: Double
        let usableUntil: Double
        var grace: Observation.Grace?
        /// Rejected, or expired and being replaced: not the current one any more.
        var isGone = false
        /// Rejected while it was kept aside.
        var isRejected = false
    }

    /// What decides about the future; an input that leaves it as it is, is a rare one.
    struct Facts: Equatable {
        var now = 0.0
        var session = 1
        var isSignedIn = true
        var loads: [Load] = []
        /// Every token that was ever the current one, in this order.
        var held: [Token] = []
        /// Good tokens of loads that are over, which came while a newer load was running.
        var aside: [Token] = []
        /// The callers that have not been answered.
        var waiting: [Int] = []
    }

    let reportsEvents: Bool
    var facts = Facts()
    /// Every caller there ever was.
    var callers = 0
    /// What each session's tokens are, to tell whether a caller was given one of another session.
    var sessionOfToken: [(value: String, session: Int)] = []

    init(reportsEvents: Bool) { self.reportsEvents = reportsEvents }

    // MARK: Questions

    var current: Token? {
        guard facts.isSignedIn, let last = facts.held.last, !last.isGone else { return nil }
        return last
    }

    var running: Load? {
        facts.loads.last { $0.end == nil }
    }

    /// A load of a session that a sign-in has replaced is running: the present session must not load (O9).
    var isHeld: Bool { facts.loads.contains { $0.end == .signIn && !$0.hasAnswered } }

    var usable: Token? {
        guard let current, facts.now < current.usableUntil || isInGrace(current) else { return nil }
        return current
    }

    func isInGrace(_ token: Token) -> Bool {
        token.grace?.contains(facts.now) ?? false
    }

    // MARK: Inputs

    mutating func expect(_ input: Input) -> Observation {
        var expected = Observation()
        switch input {
        case .retrieve: retrieve(cancelled: false, &expected)
        case .retrieveCancelled: retrieve(cancelled: true, &expected)
        case .askByLoader(let load): askByLoader(load, &expected)
        case .cancel(let caller): cancel(caller, &expected)
        case .finish(let load, let answer): finish(load, answer, &expected)
        case .answerAgain(let load): expected.events = [.init(.ignoredRepeatedAnswer, load: load)]
        case .deadline(let load): deadline(load, &expected)
        case .invalidate(let value): invalidate(value, &expected)
        case .signIn: signIn(&expected)
        case .signInExpired: signInExpired(&expected)
        case .signInWithoutToken: signInWithoutToken(&expected)
        case .signOut: signOut(&expected)
        case .clock(let move): facts.now = time(after: move)
        }
        expected.published = current.map { token in
            .init(
                value: token.value,
                freshUntil: running == nil ? token.freshUntil : token.usableUntil,
                usableUntil: token.usableUntil,
                grace: token.grace
            )
        }
        expected.current = running?.number
        if !reportsEvents { expected.events = [] }
        return expected
    }

    // MARK: What they have in common

    /// Answers all who wait, in the order in which they came (D1, D2).
    mutating func answerAll(_ outcome: Outcome, _ expected: inout Observation) {
        expected.answers = facts.waiting.map { .init(caller: $0, outcome: outcome) }
        facts.waiting = []
    }

    /// A load failed: the best token that is left becomes the current one, and waiters are given it if it is valid.
    mutating func fallBack(failing outcome: Outcome, _ expected: inout Observation) {
        if current != nil {
            // The next load ahead of the expiration waits a little.
            let index = facts.held.count - 1
            let postponed = min(facts.now + Times.minimumLoadInterval, facts.held[index].usableUntil)
            facts.held[index].freshUntil = max(facts.held[index].freshUntil, postponed)
        }
        let late = facts.aside.last
        facts.aside = []
        if let late, late.isRejected {
            // I9
            expected.events.append(.init(.ignoredWorthlessAnswer, load: late.load))
            if usable == nil {
                facts.held.append(late)
                giveUpCurrent()
            }
        } else if let late, facts.now < late.usableUntil || usable == nil {
            // One that has expired since does not replace a valid token.
            facts.held.append(late)
            expected.events.append(.init(.adoptedLateAnswer, load: late.load))
        }
        answerAll(usable.map { .token($0.value) } ?? outcome, &expected)
    }

    mutating func giveUpCurrent() {
        guard current != nil else { return }
        facts.held[facts.held.count - 1].isGone = true
    }

    func token(of load: Load, _ answer: Input.Answer) -> Token? {
        switch answer {
        case .token: token("T\(load.number)", load: load.number)
        case .sameToken: token(facts.held.last?.value ?? "", load: load.number)
        case .replacedToken: token(load.replacing ?? "", load: load.number)
        case .expiredToken: expiredToken("E\(load.number)", load: load.number)
        case .failure: nil
        }
    }

    func token(_ value: String, load: Int) -> Token {
        let now = facts.now
        return Token(value: value, load: load, freshUntil: now + Times.freshFor, usableUntil: now + Times.usableFor)
    }

    func expiredToken(_ value: String, load: Int) -> Token {
        Token(value: value, load: load, freshUntil: facts.now - 1, usableUntil: facts.now - 1)
    }

    func time(after move: Input.ClockMove) -> Double {
        let edges = edges
        return switch move {
        case .nextEdge: edges.min() ?? facts.now
        case .pastAll: edges.max() ?? facts.now
        case .back: facts.now - Times.backwards
        }
    }

    /// The instants to come at which a token that still counts stops being fresh or usable.
    var edges: [Double] {
        ([current].compactMap(\.self) + facts.aside).flatMap {
            [$0.freshUntil, $0.usableUntil] + [$0.grace?.until].compactMap(\.self)
        }
        .filter { facts.now < $0 }
    }
}
