package import AccessTokenFoundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader.
///
/// An input is a request or a past event. It changes the state, and returns what the service has to do. The service
/// gives the inputs one at a time. The waiters, and the loads that the loader is running, are values in here: the
/// service has none.
package struct AccessTokenStateMachine: Sendable {
    let service = ServiceID()
    let policy: AccessTokenPolicy

    /// `nil` while no user is signed in.
    var session: Session? {
        didSet { hasChanged = true }
    }
    /// Changes at sign-in and sign-out.
    var sessionEpoch = 0
    var lastLoad = 0
    /// Loads that the loader is running, and that are not the current one any more.
    var formerLoads: [FormerLoad] = []
    /// The sessions that the loader has not forgotten yet, the oldest first.
    var forgettings: [Forgetting] = []

    var handlers = WaiterList<Waiter.Handler>()
    var tasks = WaiterList<Waiter.Suspension>()
    private var lastWaiter: Waiter.ID = 0

    /// What happened since it was last taken; `nil` without an event handler.
    private var events: [AccessTokenEvent]?
    /// Whether callers may be given something else than when that was last asked.
    private var hasChanged = true

    /// Begins with a session, which has this token or has to load one (C11).
    package init(token: AccessToken? = nil, policy: AccessTokenPolicy, reportsEvents: Bool, at now: Date) {
        self.policy = policy.corrected
        events = reportsEvents ? policy.corrections.map { AccessTokenEvent(.policyCorrected, detail: $0) } : nil
        session = newSession(with: token, at: now)
    }

    // MARK: Questions

    /// How many wait.
    package var waiters: Int { handlers.count + tasks.count }

    /// What callers may be given without asking the state machine, at the times that it carries.
    package var publishedToken: CachedToken? {
        guard let session else { return nil }
        return session.hasLoad ? session.current?.withoutRefreshAhead : session.current
    }

    /// The load whose answer counts.
    package var currentLoad: LoadID? { session?.runningLoad?.load.id }

    /// Whether ``publishedToken`` or ``currentLoad`` may have changed since this was last asked.
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

    /// Notes an event that says something of the present state.
    mutating func report(_ event: (Self) -> AccessTokenEvent) {
        guard events != nil else { return }
        let event = event(self)
        events?.append(event)
    }

    // MARK: Callers

    /// Names a waiter before it comes, so that its cancellation can be prepared.
    package mutating func nameWaiter() -> Waiter.ID {
        lastWaiter += 1
        return lastWaiter
    }

    /// A caller wants a token: answer it, or it waits; load if it is the first.
    ///
    /// - Parameter id: the caller's name if it waits, from ``nameWaiter()``; the next one if there is none yet.
    package mutating func retrieve(
        _ waiter: Waiter,
        as id: Waiter.ID? = nil,
        by caller: CallerContext,
        at now: Date
    ) -> Action {
        guard session != nil else {
            report(.init(.refusedSignedOut))
            return .answer(waiter, .failure(AccessTokenError.signedOut))
        }
        if let token = session?.current, token.isUsable(at: now) {
            report(.init(.answeredFromCache))
            var action = Action.answer(waiter, .success(token.token))
            if !token.isFresh(at: now), session?.hasLoad == false, !isReplacedLoadRunning, !caller.isCancelled {
                let load = startLoad(inside: caller.loads, replacing: token.token, .refreshAheadStarted, at: now)
                action.loader = [.load(load)]
            }
            return action
        }
        guard !caller.isCancelled else {
            report(.init(.refusedCancelled))
            return .answer(waiter, .failure(cancellationError))
        }
        guard !caller.loads.contains(where: isAwaited) else {
            // The load would wait for itself (R1).
            report(.init(.refusedLoader))
            return .answer(waiter, .failure(AccessTokenError.loadAskedItsOwnService))
        }
        let id = id ?? nameWaiter()
        switch waiter {
        case .handler(let handler): handlers.append(handler, as: id)
        case .task(let suspension): tasks.append(suspension, as: id)
        }
        var action = Action.wait(id)
        // Single flight: only the first caller starts a load (S1), and all others join it (S2).
        if session?.hasLoad == false, let load = replaceToken(inside: caller.loads, at: now) {
            action.loader = [.load(load)]
        } else {
            report { .init(.joined, load: $0.awaitedLoad, waiters: $0.waiters) }
        }
        return action
    }

    /// A waiter was cancelled: answer it at once (X1); the load goes on, also without waiters (X2).
    package mutating func cancel(_ id: Waiter.ID) -> Action {
        let waiter: Waiter
        if let handler = handlers.take(id) {
            waiter = .handler(handler)
        } else if let suspension = tasks.take(id) {
            waiter = .task(suspension)
        } else {
            return Action()
        }
        report { .init(.waiterCancelled, load: $0.awaitedLoad) }
        return .answer(waiter, .failure(cancellationError))
    }

    /// A server rejected a token; there is nothing to do.
    ///
    /// Of the token that is handed out only the current one counts: a late rejection of an older token must not throw
    /// away the token that replaced it (I2), and fifty rejections of one token cause one load (I3). A load that is
    /// running may bring the rejected token, from a cache or another service: then its answer is worth nothing (I9).
    package mutating func invalidate(_ rejected: AccessToken) -> Action {
        noteRejection(of: rejected.value)
        guard let token = session?.current, token.token.value == rejected.value else {
            report(.init(.ignoredInvalidation))
            return Action()
        }
        session?.retireToken()
        report(.init(.invalidated))
        return Action()
    }

    /// Answers all who wait.
    mutating func answerAll(_ result: LoadResult) -> Action {
        var action = Action()
        guard waiters > 0 else { return action }
        action.callers = .answer(Answer(to: handlers.takeAll(), tasks.takeAll(), result))
        return action
    }

    /// The number of the load that callers wait for: the running one, or the next one.
    private var awaitedLoad: Int {
        session?.runningLoad?.load.id.number ?? lastLoad + 1
    }

    /// Whether callers that have to wait would wait for this load.
    private func isAwaited(_ load: LoadID) -> Bool {
        load == currentLoad || formerLoads.contains { $0.reason == .replaced && $0.load.id == load }
    }
}
