public import Foundation

/// Every decision of a service, and nothing else: no queue, no actor, no time of its own, no loader.
///
/// An input is a request or a past event; it changes the state and returns the ``Action`` that the shell carries
/// out. The shell gives the inputs one at a time, and carries the actions' effects out in the inputs' order.
@usableFromInline
package struct AccessTokenStateMachine<Waiter> {
    @usableFromInline
    let policy: AccessTokenPolicy
    @usableFromInline
    let reportsEvents: Bool
    @usableFromInline
    var state = TokenState.idle(replacing: nil)
    @usableFromInline
    var waiters = WaiterSlots<Waiter>()
    @usableFromInline
    var sessionEpoch = 0
    @usableFromInline
    var lastLoad = 0

    package init(policy: AccessTokenPolicy, reportsEvents: Bool) {
        self.policy = policy.corrected
        self.reportsEvents = reportsEvents
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
        if reportsEvents {
            published.freshUntil = .distantPast
        } else if case .renewing = state {
            published.freshUntil = published.usableUntil
        }
        return published
    }

    // MARK: Callers

    /// A caller finds a load under way, and that it waits is all there is to note: so it is for most waiters.
    ///
    /// - Returns: what cancels the waiter; `nil` if ``retrieve(_:by:at:)`` has to decide about it.
    @inlinable
    package mutating func join(_ waiter: Waiter, by caller: CallerContext) -> Int? {
        guard !reportsEvents, !caller.isCancelled, let flight = state.loadingFlight,
            flight.id != caller.ownLoad, flight.priority >= caller.priority
        else { return nil }
        return waiters.append(waiter)
    }

    /// A caller wants a token.
    @inlinable
    package mutating func retrieve(
        _ waiter: Waiter,
        by caller: CallerContext = CallerContext(),
        at now: Date
    ) -> Action<Waiter> {
        var action = Action<Waiter>()
        switch state {
        case .signedOut:
            action.answer(waiter, .failure(AccessTokenError.signedOut))
            report(.refusedSignedOut, in: &action)

        case .cached(let cached) where cached.isFresh(at: now),
            .renewing(let cached, _) where cached.isUsable(at: now):
            action.answer(waiter, .success(cached.token))
            report(.answeredFromCache, in: &action)

        case .cached(let cached) where cached.isUsable(at: now):
            action.answer(waiter, .success(cached.token))
            report(.answeredFromCache, in: &action)
            guard !caller.isCancelled else { break }
            let flight = startFlight(for: caller, replacing: cached.token, at: now, in: &action)
            state = .renewing(cached, flight)
            report(.startedBehind(load: flight.id.number), in: &action)

        case .loading(let flight) where flight.id == caller.ownLoad,
            .renewing(_, let flight) where flight.id == caller.ownLoad:
            action.answer(waiter, .failure(AccessTokenError.loadAskedItsOwnService))
            report(.refusedLoader, in: &action)

        case _ where caller.isCancelled:
            action.answer(waiter, .failure(cancellation))
            report(.refusedCancelled, in: &action)

        case .idle(let old):
            lead(waiter, caller, replacing: old, at: now, in: &action)

        case .cached(let expired):
            lead(waiter, caller, replacing: expired.token, at: now, in: &action)

        case .loading(let flight):
            join(waiter, caller, flight, in: &action)
            action.changesToken = false

        case .renewing(_, let flight):
            state = .loading(flight)
            join(waiter, caller, flight, in: &action)
        }
        return action
    }

    /// A waiter was cancelled, and answering it is all there is to do: so it is unless events are reported.
    ///
    /// - Returns: the waiter; `nil` if there is none with this ticket, or ``cancel(_:)`` has to decide about it.
    @inlinable
    package mutating func leave(_ ticket: Int) -> Waiter? {
        guard !reportsEvents, state.loadingFlight != nil else { return nil }
        return waiters.take(ticket)
    }

    /// A waiter was cancelled: it is answered at once (X1), and the load goes on for the others or for nobody (X2).
    @inlinable
    package mutating func cancel(_ ticket: Int) -> Action<Waiter> {
        var action = Action<Waiter>()
        action.changesToken = false
        guard let flight = state.loadingFlight, let waiter = waiters.take(ticket) else { return action }
        action.answer(waiter, .failure(cancellation))
        report(.waiterCancelled(load: flight.id.number), in: &action)
        return action
    }

    @usableFromInline
    mutating func lead(
        _ waiter: Waiter,
        _ caller: CallerContext,
        replacing old: AccessToken?,
        at now: Date,
        in action: inout Action<Waiter>
    ) {
        action.ticket = waiters.append(waiter)
        let flight = startFlight(for: caller, replacing: old, at: now, in: &action)
        state = .loading(flight)
        report(.led(load: flight.id.number), in: &action)
    }

    @inlinable
    mutating func join(
        _ waiter: Waiter,
        _ caller: CallerContext,
        _ flight: Flight,
        in action: inout Action<Waiter>
    ) {
        action.ticket = waiters.append(waiter)
        if caller.priority > flight.priority {
            var flight = flight
            flight.priority = caller.priority
            state = .loading(flight)
            action.effects.append(.raisePriority(flight.id, to: caller.priority))
        }
        report(.joined(load: flight.id.number, waiters: waiters.count), in: &action)
    }

    @usableFromInline
    mutating func startFlight(
        for caller: CallerContext,
        replacing old: AccessToken?,
        at now: Date,
        in action: inout Action<Waiter>
    ) -> Flight {
        lastLoad += 1
        let id = FlightID(sessionEpoch: sessionEpoch, number: lastLoad)
        action.effects.append(.startLoad(id, replacing: old, for: caller))
        return Flight(id: id, replacing: old, startedAt: now, priority: caller.priority)
    }

    @inlinable
    func report(_ event: @autoclosure () -> AccessTokenEvent, in action: inout Action<Waiter>) {
        if reportsEvents { action.effects.append(.report(event())) }
    }
}
