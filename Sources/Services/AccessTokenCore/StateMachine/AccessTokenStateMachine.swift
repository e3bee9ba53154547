package import AccessTokenFoundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader.
///
/// An input is a request or a past event. It changes the state, and returns what the service has to do. The service gives
/// the inputs one at a time. It keeps the waiters itself, and only says how many there are.
package struct AccessTokenStateMachine: Sendable {
    let service: ServiceID
    let policy: AccessTokenPolicy

    /// `nil` while no user is signed in.
    var session: Session? = Session()
    /// Changes at sign-in and sign-out.
    package internal(set) var sessionEpoch = 0
    var lastLoad = 0

    /// What happened since it was last taken; `nil` without an event handler.
    private var events: [AccessTokenEvent]?

    package init(service: ServiceID, policy: AccessTokenPolicy, reportsEvents: Bool) {
        self.service = service
        self.policy = policy.corrected
        events = reportsEvents ? policy.corrections.map { AccessTokenEvent(.policyCorrected, detail: $0) } : nil
    }

    package var isSignedOut: Bool { session == nil }

    /// What callers may be given without asking the state machine, at the times that it carries.
    package var publishedToken: CachedToken? {
        session?.load == nil ? session?.token : session?.token?.withoutRefreshAhead
    }

    // MARK: Callers

    /// What becomes of a caller, or of all who wait.
    package enum CallerAction: Sendable {
        case answer(LoadResult)
        /// Answer with the valid token, and load its successor (C5).
        case answerAndLoad(AccessToken, LoadStart)
        case wait
        /// Wait, for a load that has to be started.
        case waitAndLoad(LoadStart)
        /// Wait, for a load that has to go on with the caller's priority.
        case waitAndRaise(priority: UInt8)

        /// The answer; `nil` for those who have to wait.
        package var answer: LoadResult? {
            switch self {
            case .answer(let answer): answer
            case .answerAndLoad(let token, _): .success(token)
            case .wait, .waitAndLoad, .waitAndRaise: nil
            }
        }

        /// The load that has to be started.
        package var start: LoadStart? {
            switch self {
            case .answerAndLoad(_, let start), .waitAndLoad(let start): start
            case .answer, .wait, .waitAndRaise: nil
            }
        }
    }

    /// A caller wants a token.
    ///
    /// - Parameter waiters: how many wait already.
    package mutating func retrieve(by caller: CallerContext, waiters: Int, at now: Date) -> CallerAction {
        guard session != nil else {
            report(.init(.refusedSignedOut))
            return .answer(.failure(AccessTokenError.signedOut))
        }
        if let token = session?.token, token.isUsable(at: now) {
            report(.init(.answeredFromCache))
            let isToBeRenewed = !token.isFresh(at: now) && session?.load == nil && !caller.isCancelled
            guard isToBeRenewed else { return .answer(.success(token.token)) }
            let start = startLoad(for: caller, replacing: token.token, at: now)
            report(.init(.refreshAheadStarted, load: start.load.number))
            return .answerAndLoad(token.token, start)
        }
        guard !caller.isCancelled else {
            report(.init(.refusedCancelled))
            return .answer(.failure(cancellation))
        }
        // Single flight: only the first caller starts a load (S1), and all others join it (S2).
        guard let load = session?.load?.id else { return .waitAndLoad(replaceToken(for: caller, at: now)) }
        guard !caller.loads.contains(load) else {
            // The load would wait for itself (R1).
            report(.init(.refusedLoader))
            return .answer(.failure(AccessTokenError.loadAskedItsOwnService))
        }
        report(.init(.joined, load: load.number, waiters: waiters + 1))
        guard let priority = session?.load?.priority, caller.priority > priority else { return .wait }
        session?.load?.priority = caller.priority
        return .waitAndRaise(priority: caller.priority)
    }

    /// A waiter was cancelled: it is answered at once (X1), and the load goes on, also without waiters (X2).
    package mutating func waiterCancelled() {
        let load = lastLoad
        report(.init(.waiterCancelled, load: load))
    }

    /// A server rejected a token.
    ///
    /// Only the current one counts: a late rejection of an older token must not throw away the token that replaced it
    /// (I2), and fifty rejections of one token cause one load (I3).
    package mutating func invalidate(_ rejected: AccessToken) {
        guard let token = session?.token, token.token.value == rejected.value else {
            return report(.init(.ignoredInvalidation))
        }
        session?.token = nil
        session?.outdated = token
        report(.init(.invalidated))
    }

    // MARK: Events

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
}

/// What a load brings, and callers are answered with.
///
/// Where an input returns one, the service takes all waiters out of its list and answers them with it, in the order in which
/// they came (D2).
package typealias LoadResult = Result<AccessToken, any Error>

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
package let cancellation: any Error = CancellationError()
