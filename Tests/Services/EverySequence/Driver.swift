import AccessTokenCore
import Foundation

/// Gives inputs to a state machine as a shell does, and keeps book of what it does, believing nothing.
struct Driver {
    private var machine: AccessTokenStateMachine
    private var waiters = WaiterList<Int>()
    private let service = ServiceID()
    private var loadIDs: [LoadID] = []
    private var ids: [WaiterID?] = []

    /// How each caller was answered; `nil` while it waits.
    private(set) var outcomes: [Outcome?] = []
    /// The current load, by what the actions say.
    private(set) var owner: Int?
    /// The loads that have not answered yet, and the last one that has.
    private(set) var silentLoads: [Int] = []
    private(set) var lastAnswered: Int?
    var loads: Int { loadIDs.count }

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
            if case .askByLoader(let load) = input { loads = [loadIDs[load - 1]] }
            let context = CallerContext(
                isCancelled: input == .retrieveCancelled,
                priority: priority(ofCaller: caller),
                loads: loads
            )
            try observe(machine.retrieve(by: context, waiters: waiters.count, at: now), of: caller, &seen)
        case .cancel(let caller):
            if let cancelled = ids[caller - 1].flatMap({ waiters.take($0) }) {
                machine.waiterCancelled()
                seen.answers.append(.init(caller: cancelled, outcome: .cancelled))
            }
        case .finish(let load, let answer):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            let result = answer.result(of: load, held: held, at: now)
            let error = LoggedError(result)
            let end = machine.loadFinished(loadIDs[load - 1], result, error: error, waiters: waiters.count, at: now)
            try observe(end, of: load, &seen)
        case .answerAgain(let load): machine.loadAnsweredAgain(loadIDs[load - 1])
        case .deadline(let load):
            let end = machine.deadlinePassed(loadIDs[load - 1], waiters: waiters.count, at: now)
            try observe(end, of: load, &seen)
        case .invalidate(let value): machine.invalidate(AccessToken(value: value))
        case .signIn:
            try signIn(with: AccessToken(value: "S\(session)", expiration: now + Times.life), at: now, &seen)
        case .signInExpired: try signIn(with: AccessToken(value: "X\(session)", expiration: now - 1), at: now, &seen)
        case .signInWithoutToken: try signIn(with: nil, at: now, &seen)
        case .signOut: try observe(machine.signOut(waiters: waiters.count), of: owner, &seen)
        case .clock: break
        }
        try observe(&seen)
        return seen
    }

    private mutating func signIn(with token: AccessToken?, at now: Date, _ seen: inout Observation) throws {
        let action = machine.signIn(token, waiters: waiters.count, at: now)
        try observe(action.answer, of: owner, &seen)
        seen.ended = seen.ended || owner != nil
        owner = nil
        if let start = action.start { try observe(start, &seen) }
    }

    private mutating func observe(
        _ action: AccessTokenStateMachine.CallerAction,
        of caller: Int,
        _ seen: inout Observation
    ) throws {
        switch action {
        case .answer(let answer): seen.answers.append(.init(caller: caller, outcome: Outcome(answer)))
        case .answerAndLoad(let token, let start):
            seen.answers.append(.init(caller: caller, outcome: .token(token.value)))
            try observe(start, &seen)
        case .wait: seen.waits = true
        case .waitAndLoad(let start):
            seen.waits = true
            try observe(start, &seen)
        case .waitAndRaise(let priority):
            seen.waits = true
            guard owner != nil else { throw Violation("a load raised for nobody") }
            seen.raise = priority
        }
        ids.append(seen.waits ? waiters.append(caller) : nil)
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
        guard start.load.number == loadIDs.count + 1 else { throw Violation("a load's number skipped or used twice") }
        guard start.enclosing.last == start.load else { throw Violation("a load that does not know itself") }
        loadIDs.append(start.load)
        silentLoads.append(start.load.number)
        owner = start.load.number
        seen.start = .init(load: start.load.number, replacing: start.replacing?.value, priority: start.priority)
    }

    private mutating func observe(_ seen: inout Observation) throws {
        for answer in seen.answers {
            guard outcomes[answer.caller - 1] == nil else { throw Violation("caller \(answer.caller) answered twice") }
            outcomes[answer.caller - 1] = answer.outcome
        }
        guard waiters.count == outcomes.count(where: { $0 == nil }) else {
            throw Violation("\(waiters.count) in the list of waiters, not those that wait")
        }
        seen.events = machine.takeEvents()
        seen.published = machine.publishedToken.map { cached in
            .init(
                value: cached.token.value,
                freshUntil: cached.freshUntil.seconds,
                usableUntil: cached.usableUntil.seconds,
                grace: cached.grace.map { .init(from: $0.from.seconds, until: $0.until.seconds) }
            )
        }
    }
}

extension Date {
    fileprivate var seconds: Double { timeIntervalSinceReferenceDate }
}
