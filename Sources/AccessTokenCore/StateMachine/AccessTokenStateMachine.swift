package import Foundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader.
///
/// An input is a request or a past event. It changes the state, and returns what the shell has to do. The shell gives the
/// inputs one at a time. It keeps the waiters itself, and only says how many there are.
package struct AccessTokenStateMachine: Sendable {
    let service: ServiceID
    let policy: AccessTokenPolicy
    var state = TokenState.idle(replacing: nil)
    /// Changes at sign-in and sign-out.
    package internal(set) var sessionEpoch = 0
    var lastLoad = 0

    /// What happened and was not delivered yet; `nil` if nobody is told.
    private var events: EventBacklog?

    package init(service: ServiceID, policy: AccessTokenPolicy, reportsEvents: Bool) {
        self.service = service
        self.policy = policy.corrected
        guard reportsEvents else { return }
        var events = EventBacklog()
        for correction in policy.corrections { events.append(.policyCorrected(correction)) }
        self.events = events
    }

    /// The present token, which may have expired.
    var cachedToken: CachedToken? {
        switch state {
        case .cached(let cached), .renewing(let cached, _): cached
        case .idle, .loading, .signedOut: nil
        }
    }

    /// What callers may be given without asking the state machine, until the times that it carries.
    package var publishedToken: CachedToken? {
        guard var published = cachedToken else { return nil }
        if events != nil {
            published.freshUntil = .distantPast
        } else if case .renewing = state {
            published.freshUntil = published.usableUntil
        }
        return published
    }

    // MARK: Callers

    /// A caller wants a token.
    ///
    /// - Parameter waiters: how many wait already.
    package mutating func retrieve(
        by caller: CallerContext = CallerContext(),
        waiters: Int,
        at now: Date
    ) -> Retrieval {
        // Nearly every waiter only joins. What it has to know is read in place: a copy of the flight costs more.
        if let current = state.current, current.priority >= caller.priority, !caller.isCancelled, caller.loads.isEmpty {
            return join(current.id, waiters)
        }
        switch state {
        case .signedOut:
            report(.refusedSignedOut)
            return Retrieval(answer: .failure(AccessTokenError.signedOut))

        case .cached(let cached) where cached.isFresh(at: now),
            .renewing(let cached, _) where cached.isUsable(at: now):
            report(.answeredFromCache)
            return Retrieval(answer: .success(cached.token))

        case .cached(let cached) where cached.isUsable(at: now):
            report(.answeredFromCache)
            guard !caller.isCancelled else { return Retrieval(answer: .success(cached.token)) }
            let (flight, start) = startFlight(for: caller, replacing: cached.token, at: now)
            state = .renewing(cached, flight)
            report(.refreshAheadStarted(load: flight.id.number))
            return Retrieval(answer: .success(cached.token), start: start)

        case .loading(let flight) where runs(caller, inside: flight),
            .renewing(_, let flight) where runs(caller, inside: flight):
            report(.refusedLoader)
            return Retrieval(answer: .failure(AccessTokenError.loadAskedItsOwnService))

        case _ where caller.isCancelled:
            report(.refusedCancelled)
            return Retrieval(answer: .failure(cancellation))

        case .idle(let old):
            return lead(caller, replacing: old, at: now)

        case .cached(let expired):
            return lead(caller, replacing: expired.token, at: now)

        case .loading(var flight):
            guard flight.raise(to: caller.priority) else { return join(flight.id, waiters) }
            state = .loading(flight)
            return join(flight.id, waiters, raising: caller.priority)

        case .renewing(let expired, var flight):
            guard flight.raise(to: caller.priority) else { return join(flight.id, waiters) }
            state = .renewing(expired, flight)
            return join(flight.id, waiters, raising: caller.priority)
        }
    }

    /// A waiter was cancelled: it is answered at once (X1), and the load goes on for the others or for nobody (X2).
    package mutating func waiterCancelled() {
        let load = lastLoad
        report(.waiterCancelled(load: load))
    }

    mutating func lead(_ caller: CallerContext, replacing old: AccessToken?, at now: Date) -> Retrieval {
        let (flight, start) = startFlight(for: caller, replacing: old, at: now)
        state = .loading(flight)
        report(.loadStarted(load: flight.id.number))
        return Retrieval(start: start)
    }

    private mutating func join(_ load: FlightID, _ waiters: Int, raising priority: UInt8? = nil) -> Retrieval {
        report(.joined(load: load.number, waiters: waiters + 1))
        return Retrieval(raise: priority)
    }

    mutating func startFlight(
        for caller: CallerContext,
        replacing old: AccessToken?,
        at now: Date
    ) -> (Flight, LoadStart) {
        lastLoad += 1
        let id = FlightID(sessionEpoch: sessionEpoch, number: lastLoad)
        let flight = Flight(
            id: id,
            replacing: old,
            startedAt: now,
            priority: caller.priority,
            enclosing: caller.loads
        )
        let start = LoadStart(
            flight: id,
            replacing: old,
            priority: caller.priority,
            enclosing: caller.loads + [LoadID(service: service, flight: id)]
        )
        return (flight, start)
    }

    /// Whether the caller asks from inside this load, which would wait for itself (R1).
    private func runs(_ caller: CallerContext, inside flight: Flight) -> Bool {
        !caller.loads.isEmpty && caller.loads.contains(LoadID(service: service, flight: flight.id))
    }

    // MARK: Events

    /// See ``EventBacklog/startsDelivery()``.
    package mutating func startsDelivery() -> Bool {
        events?.startsDelivery() ?? false
    }

    /// See ``EventBacklog/next()``.
    package mutating func nextEvents() -> [AccessTokenEvent]? {
        events?.next()
    }

    mutating func report(_ event: @autoclosure () -> AccessTokenEvent) {
        events?.append(event())
    }
}
