import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Gives inputs to a state machine as a service does, and keeps book of what it does, believing nothing.
struct Driver {
    private var machine: AccessTokenStateMachine
    private var loads: [Load] = []
    private var ids: [Waiter.ID?] = []
    /// The loads that a sign-in or sign-out, or their deadline, has not let go of.
    private var running: Set<Int> = []
    private var cancelled: Set<Int> = []
    private var overdue: Set<Int> = []
    private var signOutsUnderWay = 0
    /// What handlers are told; of all copies, which are used one at a time.
    private let log = DriverLog()

    /// How each caller was answered; `nil` while it waits.
    private(set) var outcomes: [Outcome?] = []
    /// The loads that have not answered yet, and the last one that has.
    private(set) var silentLoads: [Int] = []
    private(set) var lastAnswered: Int?
    var loadCount: Int { loads.count }
    /// The current load, by what the machine says.
    var currentLoad: Int? { machine.currentLoad?.number }
    /// The load that will end by itself or by its deadline: those who wait may wait for it (S1, O9).
    var awaited: Set<Int> { running.subtracting(overdue).subtracting(cancelled) }

    /// The last of those who waited once and do no more: a cancellation that comes too late is theirs.
    var lastAnsweredWaiter: Int? {
        outcomes.indices.last { ids[$0] != nil && outcomes[$0] != nil }.map { $0 + 1 }
    }

    init(reportsEvents: Bool) {
        let start = Date(timeIntervalSinceReferenceDate: 0)
        machine = AccessTokenStateMachine(policy: Times.policy, reportsEvents: reportsEvents, at: start)
    }

    /// - Parameter held: the value of the token that the service held last.
    mutating func perform(_ input: Input, at time: Double, held: String?, session: Int) throws -> Observation {
        let now = Date(timeIntervalSinceReferenceDate: time)
        var seen = Observation()
        switch input {
        case .retrieve: try retrieve(CallerContext(loads: []), at: now, &seen)
        case .retrieveCancelled: try retrieve(CallerContext(isCancelled: true, loads: []), at: now, &seen)
        case .askByLoader(let load): try retrieve(CallerContext(loads: [loads[load - 1].id]), at: now, &seen)
        case .cancel(let caller):
            if let id = ids[caller - 1] { try carryOut(machine.cancel(id), &seen) }
        case .finish(let load, let answer):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            running.remove(load)
            let result = answer.result(of: load, held: held, at: now)
            let error = LoggedError(result)
            try carryOut(machine.loadFinished(loads[load - 1], result, error: error, at: now), &seen)
        case .answerAgain(let load): try carryOut(machine.loadAnsweredAgain(loads[load - 1]), &seen)
        case .deadline(let load):
            overdue.insert(load)
            try carryOut(machine.deadlinePassed(loads[load - 1], at: now), &seen)
        case .invalidate(let value): try carryOut(machine.invalidate(AccessToken(value: value)), &seen)
        case .signIn:
            let token = AccessToken(value: "S\(session)", expiration: now + Times.life)
            try carryOut(machine.signIn(token, at: now), &seen)
        case .signInExpired:
            try carryOut(machine.signIn(AccessToken(value: "X\(session)", expiration: now - 1), at: now), &seen)
        case .signInWithoutToken: try carryOut(machine.signIn(nil, at: now), &seen)
        case .signOut:
            signOutsUnderWay += 1
            cancelled = running
            let log = log
            let action = machine.signOut(inside: []) { log.signOutIsDone() }
            guard action.cancelled == running else { throw Violation("\(action.cancelled) cancelled, not \(running)") }
            try carryOut(action, &seen)
        case .clock: break
        }
        try observe(&seen)
        return seen
    }

    private mutating func retrieve(_ context: CallerContext, at now: Date, _ seen: inout Observation) throws {
        outcomes.append(nil)
        let (caller, log) = (outcomes.count, log)
        let action = machine.retrieve(.handler { log.answer(caller, $0) }, by: context, at: now)
        if case .wait(let id) = action.callers { ids.append(id) } else { ids.append(nil) }
        seen.waits = ids[caller - 1] != nil
        try carryOut(action, &seen)
    }

    private mutating func carryOut(_ action: AccessTokenStateMachine.Action, _ seen: inout Observation) throws {
        if case .answer(let answer) = action.callers { answer.callHandlers() }
        for call in action.loader {
            switch call {
            case .load(let load): try start(load, &seen)
            case .cancel: break
            case .forget(let session):
                let isEarly = loads.contains {
                    $0.id.sessionEpoch < session && running.subtracting(overdue).contains($0.id.number)
                }
                guard !isEarly else { throw Violation("the loader forgets while a load can store a credential") }
                try carryOut(machine.forgettingFinished(session), &seen)
            }
        }
        for done in action.signOutsDone { done() }
    }

    private mutating func start(_ load: Load, _ seen: inout Observation) throws {
        guard awaited.isEmpty else { throw Violation("a load starts beside \(awaited)") }
        guard load.id.number == loads.count + 1 else { throw Violation("a load's number skipped or used twice") }
        guard load.enclosing.last == load.id else { throw Violation("a load that does not know itself") }
        guard machine.loadBegins(load) else { throw Violation("a load that starts is not the current one") }
        loads.append(load)
        silentLoads.append(load.id.number)
        running.insert(load.id.number)
        seen.start = .init(load: load.id.number, replacing: load.replacing?.value)
    }

    private mutating func observe(_ seen: inout Observation) throws {
        let (answers, signOutsDone) = log.takeAll()
        for answer in answers {
            guard outcomes[answer.caller - 1] == nil else { throw Violation("caller \(answer.caller) answered twice") }
            outcomes[answer.caller - 1] = answer.outcome
        }
        signOutsUnderWay -= signOutsDone
        let mayGoOn = !running.subtracting(overdue).isEmpty
        guard signOutsUnderWay == 0 || mayGoOn && signOutsUnderWay > 0 else {
            throw Violation("\(signOutsUnderWay) sign-outs wait for nothing")
        }
        guard machine.waiters == outcomes.count(where: { $0 == nil }) else {
            throw Violation("\(machine.waiters) in the list of waiters, not those that wait")
        }
        seen.answers = answers
        seen.current = currentLoad
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

/// What handlers were told, and how many sign-outs were done, since it was last asked.
private final class DriverLog: Sendable {
    private let entries = Locked<(answers: [Observation.Answer], signOutsDone: Int)>(([], 0))

    func answer(_ caller: Int, _ result: LoadResult) {
        entries.withLock { $0.answers.append(.init(caller: caller, outcome: Outcome(result))) }
    }

    func signOutIsDone() { entries.withLock { $0.signOutsDone += 1 } }

    func takeAll() -> (answers: [Observation.Answer], signOutsDone: Int) {
        entries.withLock { entries in
            defer { entries = ([], 0) }
            return entries
        }
    }
}

extension AccessTokenStateMachine.Action {
    /// The numbers of the loads that have to be cancelled.
    fileprivate var cancelled: Set<Int> {
        Set(loader.compactMap { if case .cancel(let load) = $0 { load.id.number } else { nil } })
    }
}

extension Date {
    fileprivate var seconds: Double { timeIntervalSinceReferenceDate }
}
