import AccessTokenCore
import Foundation

/// Gives inputs to a state machine as a shell does, and keeps book of what it does, believing nothing.
struct Driver {
    private var machine: AccessTokenStateMachine<Int>
    private var flights: [FlightID] = []
    private var tickets: [Int?] = []

    /// How each caller was answered; `nil` while it waits.
    private(set) var outcomes: [Outcome?] = []
    /// The load that owns the slot, by what the actions say.
    private(set) var owner: Int?
    /// The loads that have not answered yet, and the last one that has.
    private(set) var silentLoads: [Int] = []
    private(set) var lastAnswered: Int?
    var loads: Int { flights.count }

    /// The last of those who waited once and do no more: a cancellation that comes too late is theirs.
    var lastAnsweredWaiter: Int? {
        outcomes.indices.last { tickets[$0] != nil && outcomes[$0] != nil }.map { $0 + 1 }
    }

    init(reportsEvents: Bool) {
        let policy = AccessTokenPolicy(leeway: Times.leeway, refreshAhead: Times.refreshAhead, loadDeadline: 60)
        machine = AccessTokenStateMachine(policy: policy, reportsEvents: reportsEvents)
    }

    /// - Parameter held: the value of the token that the service held last.
    mutating func perform(_ input: Input, at time: Double, held: String?, session: Int) throws -> Observation {
        let now = Date(timeIntervalSinceReferenceDate: time)
        let caller = outcomes.count + 1
        let action: Action<Int>?
        switch input {
        case .retrieve, .retrieveCancelled, .askByLoader:
            outcomes.append(nil)
            tickets.append(nil)
            var context = CallerContext(priority: priority(ofCaller: caller))
            context.isCancelled = input == .retrieveCancelled
            if case .askByLoader(let load) = input { context.ownLoad = flights[load - 1] }
            // As the shells do: most waiters need no action.
            if let ticket = machine.join(caller, by: context) {
                var joined = Action<Int>()
                joined.ticket = ticket
                action = joined
            } else {
                action = machine.retrieve(caller, by: context, at: now)
            }
            tickets[caller - 1] = action?.ticket
        case .cancel(let caller):
            action = tickets[caller - 1].map { ticket in
                guard let waiter = machine.leave(ticket) else { return machine.cancel(ticket) }
                var left = Action<Int>()
                left.answer(waiter, .failure(CancellationError()))
                return left
            }
        case .finish(let load, let answer):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            action = machine.loadFinished(flights[load - 1], result(load, answer, held: held, at: now), at: now)
        case .answerAgain(let load): action = machine.loadAnsweredAgain(flights[load - 1])
        case .deadline(let load): action = machine.deadlinePassed(flights[load - 1], at: now)
        case .invalidate(let value): action = machine.invalidate(AccessToken(value: value))
        case .signIn:
            let expiration = now.addingTimeInterval(Times.life)
            action = machine.signIn(AccessToken(value: "S\(session)", expiration: expiration), at: now)
        case .signOut: action = machine.signOut()
        case .clock: action = nil
        }
        return try observe(action)
    }

    private func result(
        _ load: Int,
        _ answer: Input.Answer,
        held: String?,
        at now: Date
    ) -> Result<AccessToken, any Error> {
        let expiration = now.addingTimeInterval(Times.life)
        return switch answer {
        case .token: .success(AccessToken(value: "T\(load)", expiration: expiration))
        case .sameToken: .success(AccessToken(value: held ?? "", expiration: expiration))
        case .expiredToken: .success(AccessToken(value: "E\(load)", expiration: now.addingTimeInterval(-1)))
        case .failure: .failure(LoadFailure(load: load))
        }
    }

    private mutating func observe(_ action: Action<Int>?) throws -> Observation {
        var seen = Observation()
        seen.waits = action?.ticket != nil
        if let answer = action?.answer {
            let outcome = outcome(of: answer.result)
            answer.waiters.forEach { seen.answers.append(.init(caller: $0, outcome: outcome)) }
        }
        for effect in action?.effects ?? [] { try observe(effect, &seen) }
        for answer in seen.answers {
            guard outcomes[answer.caller - 1] == nil else { throw Violation("caller \(answer.caller) answered twice") }
            outcomes[answer.caller - 1] = answer.outcome
        }
        seen.published = machine.publishedToken.map { cached in
            let freshUntil = cached.freshUntil
            return .init(
                value: cached.token.value,
                freshUntil: freshUntil == .distantPast ? -.infinity : freshUntil.timeIntervalSinceReferenceDate,
                usableUntil: cached.usableUntil.timeIntervalSinceReferenceDate
            )
        }
        return seen
    }

    private mutating func observe(_ effect: Effect, _ seen: inout Observation) throws {
        switch effect {
        case .startLoad(let flight, let old, let caller):
            guard owner == nil else { throw Violation("two loads own the slot") }
            guard flight.number == flights.count + 1 else { throw Violation("a load's number skipped or used twice") }
            flights.append(flight)
            silentLoads.append(flight.number)
            owner = flight.number
            seen.start = .init(load: flight.number, replacing: old?.value, priority: caller.priority)
        case .raisePriority(let flight, let priority):
            guard flight.number == owner else { throw Violation("a load raised that owns nothing") }
            seen.raise = priority
        case .endFlight:
            seen.ended = owner != nil
            owner = nil
        case .report(let event):
            seen.events.append(event)
        }
    }

    private func outcome(of result: Result<AccessToken, any Error>) -> Outcome {
        switch result {
        case .success(let token): .token(token.value)
        case .failure(let error as LoadFailure): .failure(load: error.load)
        case .failure(AccessTokenError.signedOut): .signedOut
        case .failure(AccessTokenError.loadTimedOut): .timedOut
        case .failure(AccessTokenError.loadAskedItsOwnService): .askedItself
        case .failure(is CancellationError): .cancelled
        case .failure(let error): .unexpected("\(error)")
        }
    }
}

/// What a load of the scenario fails with; it knows its load, so that waiters of another one are found out.
struct LoadFailure: Error {
    let load: Int
}

/// The state machine did what it must not do.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
