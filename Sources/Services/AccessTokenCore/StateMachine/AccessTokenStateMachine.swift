package import AccessTokenFoundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader, no waiters.
///
/// An input is a request or a past event. It changes the state, and returns what the service has to do; the type above
/// each input says all that this can be. The service gives the inputs one at a time. The service keeps its waiters
/// itself, and says how many there are.
package struct AccessTokenStateMachine: Sendable {
    let service = ServiceID()
    let policy: AccessTokenPolicy

    var session = Session.signedOut {
        didSet { noteChange() }
    }
    /// What is known of the session beside its token.
    package internal(set) var outlook = SessionOutlook() {
        // Compared: a look that finds what is known must not throw out another look.
        didSet { if outlook != oldValue { noteChange() } }
    }
    /// How often a look has found another user signed in, or nobody any more.
    package internal(set) var userChanges = 0 {
        didSet { noteChange() }
    }
    /// How often one of these has changed.
    package private(set) var changes: UInt32 = 0
    /// Changes at sign-in and sign-out.
    package internal(set) var sessionEpoch = 0
    /// How often somebody has signed out, whoever was signed in.
    package internal(set) var signOuts = 0 {
        didSet { hasChanged = true }
    }
    var lastLoad = 0
    /// The number of the last load that was begun; one that is given up before that is never begun.
    ///
    /// It is no part of the session: a look at the store is not too old because a load begins.
    var begunLoad = 0
    /// Loads that the loader is running, and that are not the current one any more.
    var formerLoads: [FormerLoad] = []
    /// The sessions that the loader has not forgotten yet, the oldest first.
    var forgettings: [Forgetting] = []

    /// What happened since it was last taken; `nil` without an event handler.
    private var events: [AccessTokenEvent]?
    /// Whether callers may be given something else than when that was last asked.
    private var hasChanged = true

    /// Begins with a session, which has this token or has to load one (C11).
    package init(token: AccessToken? = nil, policy: AccessTokenPolicy, reportsEvents: Bool, at now: Date) {
        self.policy = policy.corrected
        events = reportsEvents ? policy.corrections.map { AccessTokenEvent(.policyCorrected, detail: $0) } : nil
        session = newSession(with: token, at: now)
        outlook.isKnown = token != nil
    }

    // MARK: Questions

    /// What callers may be given without asking the state machine, at the times that it carries.
    package var publishedToken: CachedToken? {
        switch session {
        case .current(let token): token
        case .loadingAhead(_, let token): token.withoutRefreshAhead
        case .signedOut, .outdated, .held, .loading: nil
        }
    }

    /// Whether no user is signed in.
    package var isSignedOut: Bool { if case .signedOut = session { true } else { false } }

    /// The load whose answer counts.
    package var currentLoad: Load.ID? { session.runningLoad?.load.id }

    /// Whether every caller has to wait, whatever the time is, but for cancelled ones and those inside a load.
    ///
    /// Nobody waits at other times.
    package var isAwaited: Bool { session.isAwaited }

    private mutating func noteChange() {
        hasChanged = true
        changes &+= 1
    }

    /// Whether anything that is published may have changed since this was last asked.
    package mutating func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    /// The events since the last time, the oldest first.
    package mutating func takeEvents() -> [AccessTokenEvent] {
        guard let taken = events, !taken.isEmpty else { return [] }
        events = []
        return taken
    }

    /// Notes an event, which is only made for an event handler.
    mutating func report(_ event: @autoclosure () -> AccessTokenEvent) {
        events?.append(event())
    }

    // MARK: Callers

    /// What becomes of a caller.
    package enum RetrieveAction: Sendable {
        case answer(LoadResult)
        /// Answer with a valid token, and load its successor ahead of the expiration (C5).
        case answerAndLoad(AccessToken, Load)
        /// The caller joins those who wait (S2).
        case wait
        /// The caller is the first to wait: load (S1).
        case waitAndLoad(Load)
    }

    /// A caller wants a token.
    ///
    /// - Parameters:
    ///   - isCancelled: the caller was cancelled already: it may have a token that is there, and start nothing (X3).
    ///   - loads: the loads inside which the caller asks; a load that it starts is inside them too.
    ///   - waiters: how many wait already.
    package mutating func retrieve(
        isCancelled: Bool = false,
        inside loads: [Load.ID],
        waiters: Int,
        at now: Date
    ) -> RetrieveAction {
        switch session {
        case .signedOut:
            report(.init(.refusedSignedOut))
            return .answer(.failure(AccessTokenError.signedOut))
        case .current(let token) where token.isUsable(at: now):
            report(.init(.answeredFromCache))
            guard !token.isFresh(at: now), !isReplacedLoadRunning, !isCancelled else {
                return .answer(.success(token.token))
            }
            let load = newLoad(inside: loads, replacing: token.token)
            session = .loadingAhead(CurrentLoad(load: load, startedAt: now, isAhead: true), current: token)
            report(.init(.refreshAheadStarted, load: load.id.number))
            return .answerAndLoad(token.token, load)
        case .loadingAhead(_, let token) where token.isUsable(at: now):
            report(.init(.answeredFromCache))
            return .answer(.success(token.token))
        case .current, .loadingAhead, .outdated, .held, .loading:
            break
        }
        guard !isCancelled else {
            report(.init(.refusedCancelled))
            return .answer(.failure(cancellationError))
        }
        guard !loads.contains(where: { callersWait(for: $0) }) else {
            // The load would wait for itself (R1).
            report(.init(.refusedLoader))
            return .answer(.failure(AccessTokenError.loadAskedItsOwnService))
        }
        // Single flight: only the first caller starts a load (S1), and all others join it (S2).
        if let load = loadForWaiters(inside: loads, at: now) { return .waitAndLoad(load) }
        let awaited = awaitedLoad
        report(.init(.joined, load: awaited, waiters: waiters + 1))
        return .wait
    }

    /// A waiter was cancelled; the load goes on, also without waiters (X2).
    ///
    /// - Returns: the waiter's answer, to be given at once (X1).
    package mutating func cancelWaiter() -> LoadResult {
        let awaited = awaitedLoad
        report(.init(.waiterCancelled, load: awaited))
        return .failure(cancellationError)
    }

    /// A server rejected a token; there is nothing to do.
    ///
    /// Of the token that is handed out only the current one counts: a late rejection of an older token must not throw
    /// away the token that replaced it (I2), and fifty rejections of one token cause one load (I3). A load that is
    /// running may bring the rejected token, from a cache or another service: then its answer is worth nothing (I9).
    package mutating func invalidate(_ rejected: AccessToken) {
        noteRejection(of: rejected)
        if outlook.stored?.token.secret == rejected.secret { outlook.stored = nil }
        guard session.current?.token.secret == rejected.secret else { return report(.init(.ignoredInvalidation)) }
        session.retireToken()
        report(.init(.invalidated))
    }

    /// The number of the load that callers wait for: the running one, or the next one.
    private var awaitedLoad: Int { currentLoad?.number ?? lastLoad + 1 }

    /// Whether callers that have to wait would wait for this load.
    private func callersWait(for load: Load.ID) -> Bool {
        load == currentLoad || formerLoads.contains { $0.reason == .replaced && $0.load.id == load }
    }
}
