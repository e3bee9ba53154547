public import Foundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader.
///
/// An input is a request or a past event. It changes the state, and returns what the shell has to do. The shell gives the
/// inputs one at a time, and with each of them its list of waiters, which only an input can change.
@usableFromInline
package struct AccessTokenStateMachine: Sendable {
    @usableFromInline
    let service: ServiceID
    @usableFromInline
    let policy: AccessTokenPolicy
    @usableFromInline
    var state = TokenState.idle(replacing: nil)
    /// Changes at sign-in and sign-out.
    @usableFromInline
    package internal(set) var sessionEpoch = 0
    @usableFromInline
    var lastLoad = 0

    /// What happened and was not delivered yet; `nil` if nobody is told.
    @usableFromInline
    package var events: EventBacklog?

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
    @inlinable
    package mutating func retrieve<Waiter>(
        _ waiter: Waiter,
        in waiters: inout WaiterList<Waiter>,
        by caller: CallerContext = CallerContext(),
        at now: Date
    ) -> Retrieval<Waiter> {
        // Nearly every waiter only joins. What it has to know is read in place: a copy of the flight costs more.
        if let current = state.current, current.priority >= caller.priority, !caller.isCancelled, caller.loads.isEmpty {
            return .wait(join(waiter, in: &waiters, current.id))
        }
        switch state {
        case .signedOut:
            report(.refusedSignedOut)
            return .answer(waiter, .failure(AccessTokenError.signedOut))

        case .cached(let cached) where cached.isFresh(at: now),
            .renewing(let cached, _) where cached.isUsable(at: now):
            report(.answeredFromCache)
            return .answer(waiter, .success(cached.token))

        case .cached(let cached) where cached.isUsable(at: now):
            report(.answeredFromCache)
            guard !caller.isCancelled else { return .answer(waiter, .success(cached.token)) }
            let (flight, start) = startFlight(for: caller, replacing: cached.token, at: now)
            state = .renewing(cached, flight)
            report(.refreshAheadStarted(load: flight.id.number))
            return .answerAndLoad(waiter, cached.token, start)

        case .loading(let flight) where runs(caller, inside: flight),
            .renewing(_, let flight) where runs(caller, inside: flight):
            report(.refusedLoader)
            return .answer(waiter, .failure(AccessTokenError.loadAskedItsOwnService))

        case _ where caller.isCancelled:
            report(.refusedCancelled)
            return .answer(waiter, .failure(cancellation))

        case .idle(let old):
            return lead(waiter, in: &waiters, caller, replacing: old, at: now)

        case .cached(let expired):
            return lead(waiter, in: &waiters, caller, replacing: expired.token, at: now)

        case .loading(var flight):
            guard let priority = flight.raise(to: caller.priority) else {
                return .wait(join(waiter, in: &waiters, flight.id))
            }
            state = .loading(flight)
            return .waitAndRaise(join(waiter, in: &waiters, flight.id), priority)

        case .renewing(let expired, var flight):
            guard let priority = flight.raise(to: caller.priority) else {
                return .wait(join(waiter, in: &waiters, flight.id))
            }
            state = .renewing(expired, flight)
            return .waitAndRaise(join(waiter, in: &waiters, flight.id), priority)
        }
    }

    /// A waiter was cancelled: it is to be answered at once (X1), and the load goes on for the others or for nobody (X2).
    ///
    /// - Returns: the waiter; `nil` if it has been answered already.
    @inlinable
    package mutating func cancel<Waiter>(_ id: WaiterID, in waiters: inout WaiterList<Waiter>) -> Waiter? {
        guard let waiter = waiters.take(id) else { return nil }
        let load = lastLoad
        report(.waiterCancelled(load: load))
        return waiter
    }

    @inlinable
    mutating func lead<Waiter>(
        _ waiter: Waiter,
        in waiters: inout WaiterList<Waiter>,
        _ caller: CallerContext,
        replacing old: AccessToken?,
        at now: Date
    ) -> Retrieval<Waiter> {
        let (flight, start) = startFlight(for: caller, replacing: old, at: now)
        state = .loading(flight)
        report(.loadStarted(load: flight.id.number))
        return .waitAndLoad(waiters.append(waiter), start)
    }

    @inlinable
    mutating func join<Waiter>(_ waiter: Waiter, in waiters: inout WaiterList<Waiter>, _ load: FlightID) -> WaiterID {
        let id = waiters.append(waiter)
        report(.joined(load: load.number, waiters: waiters.count))
        return id
    }

    @usableFromInline
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
    @inlinable
    func runs(_ caller: CallerContext, inside flight: Flight) -> Bool {
        !caller.loads.isEmpty && isAmong(caller.loads, flight.id)
    }

    @usableFromInline
    func isAmong(_ loads: [LoadID], _ flight: FlightID) -> Bool {
        loads.contains(LoadID(service: service, flight: flight))
    }

    @inlinable
    mutating func report(_ event: @autoclosure () -> AccessTokenEvent) {
        events?.append(event())
    }
}
