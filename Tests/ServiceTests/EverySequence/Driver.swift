import AccessTokenCore
import Foundation

/// Gives inputs to a state machine as a shell does, and keeps book of what it does, believing nothing.
struct Driver {
    private var machine: AccessTokenStateMachine
    private var waiters = WaiterList<Int>()
    private let service = ServiceID()
    private var flights: [FlightID] = []
    private var ids: [WaiterID?] = []

    /// How each caller was answered; `nil` while it waits.
    private(set) var outcomes: [Outcome?] = []
    /// The current load, by what the actions say.
    private(set) var owner: Int?
    /// The loads that have not answered yet, and the last one that has.
    private(set) var silentLoads: [Int] = []
    private(set) var lastAnswered: Int?
    var loads: Int { flights.count }

    /// The last of those who waited once and do no more: a cancellation that comes too late is theirs.
    var lastAnsweredWaiter: Int? {
        outcomes.indices.last { ids[$0] != nil && outcomes[$0] != nil }.map { $0 + 1 }
    }

    init(reportsEvents: Bool) {
        machine = AccessTokenStateMachine(service: service, policy: Times.policy, reportsEvents: reportsEvents)
    }

    /// - Parameter held: the value of the token that the service held last.
    mutating func perform(_ input: Input, at time: Double, held: String?, session: Int) throws -> Observation {
        let now = Date(timeIntervalSinceReferenceDate: time)
        let caller = outcomes.count + 1
        var seen = Observation()
        switch input {
        case .retrieve, .retrieveCancelled, .askByLoader:
            outcomes.append(nil)
            var loads: [LoadID] = []
            if case .askByLoader(let load) = input { loads = [LoadID(service: service, flight: flights[load - 1])] }
            let context = CallerContext(
                isCancelled: input == .retrieveCancelled,
                priority: priority(ofCaller: caller),
                loads: loads
            )
            let retrieval = machine.retrieve(by: context, waiters: waiters.count, at: now)
            try observe(retrieval, of: caller, &seen)
        case .cancel(let caller):
            if let cancelled = ids[caller - 1].flatMap({ waiters.take($0) }) {
                machine.waiterCancelled()
                seen.answers.append(.init(caller: cancelled, outcome: .cancelled))
            }
        case .finish(let load, let answer):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            let result = result(load, answer, held: held, at: now)
            let error = LoggedError(result)
            let end = machine.loadFinished(flights[load - 1], result, error: error, waiters: waiters.count, at: now)
            try observe(end, of: load, &seen)
        case .answerAgain(let load): machine.loadAnsweredAgain(flights[load - 1])
        case .deadline(let load):
            let end = machine.deadlinePassed(flights[load - 1], waiters: waiters.count, at: now)
            try observe(end, of: load, &seen)
        case .invalidate(let value): machine.invalidate(AccessToken(value: value))
        case .signIn:
            let expiration = now.addingTimeInterval(Times.life)
            let token = AccessToken(value: "S\(session)", expiration: expiration)
            try signIn(with: token, at: now, &seen)
        case .signInExpired:
            let expired = AccessToken(value: "X\(session)", expiration: now.addingTimeInterval(-1))
            try signIn(with: expired, at: now, &seen)
        case .signInWithoutToken: try signIn(with: nil, at: now, &seen)
        case .signOut: try observe(machine.signOut(waiters: waiters.count), of: owner, &seen)
        case .clock: break
        }
        try observe(&seen)
        return seen
    }

    private mutating func signIn(with token: AccessToken?, at now: Date, _ seen: inout Observation) throws {
        let retrieval = machine.signIn(token, waiters: waiters.count, at: now)
        try observe(retrieval.answer, of: owner, &seen)
        seen.ended = seen.ended || owner != nil
        owner = nil
        if let start = retrieval.start { try observe(start, &seen) }
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

    private mutating func observe(_ retrieval: Retrieval, of caller: Int, _ seen: inout Observation) throws {
        seen.waits = retrieval.answer == nil
        ids.append(seen.waits ? waiters.append(caller) : nil)
        if let answer = retrieval.answer { seen.answers.append(.init(caller: caller, outcome: Outcome(answer))) }
        if let start = retrieval.start { try observe(start, &seen) }
        guard let priority = retrieval.raise else { return }
        guard owner != nil, retrieval.start == nil, seen.waits else { throw Violation("a load raised for nobody") }
        seen.raise = priority
    }

    /// - Parameter load: the load that is over if there is a result.
    private mutating func observe(_ result: LoadResult?, of load: Int?, _ seen: inout Observation) throws {
        guard let result else { return }
        guard let load, load == owner else { throw Violation("a load ended that is not the current one") }
        seen.ended = true
        owner = nil
        waiters.takeAll().forEach { seen.answers.append(.init(caller: $0, outcome: Outcome(result))) }
    }

    private mutating func observe(_ start: LoadStart, _ seen: inout Observation) throws {
        guard owner == nil else { throw Violation("two loads are current") }
        guard start.flight.number == flights.count + 1 else {
            throw Violation("a load's number skipped or used twice")
        }
        guard start.enclosing.last == LoadID(service: service, flight: start.flight) else {
            throw Violation("a load that does not know itself")
        }
        flights.append(start.flight)
        silentLoads.append(start.flight.number)
        owner = start.flight.number
        seen.start = .init(load: start.flight.number, replacing: start.replacing?.value, priority: start.priority)
    }

    private mutating func observe(_ seen: inout Observation) throws {
        for answer in seen.answers {
            guard outcomes[answer.caller - 1] == nil else { throw Violation("caller \(answer.caller) answered twice") }
            outcomes[answer.caller - 1] = answer.outcome
        }
        guard waiters.count == outcomes.count(where: { $0 == nil }) else {
            throw Violation("\(waiters.count) in the list of waiters, not those that wait")
        }
        seen.events = machine.nextEvents() ?? []
        seen.published = machine.publishedToken.map { cached in
            let freshUntil = cached.freshUntil
            return .init(
                value: cached.token.value,
                freshUntil: freshUntil == .distantPast ? -.infinity : freshUntil.timeIntervalSinceReferenceDate,
                usableUntil: cached.usableUntil.timeIntervalSinceReferenceDate
            )
        }
    }
}

/// The state machine did what it must not do.
struct Violation: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
