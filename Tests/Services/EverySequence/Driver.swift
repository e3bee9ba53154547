import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// Gives inputs to a state machine as a service does, and keeps book of what it does, believing nothing.
struct Driver {
    private var machine: AccessTokenStateMachine
    private var waiters = Waiters()
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
        case .retrieve: try retrieve(at: now, &seen)
        case .retrieveCancelled: try retrieve(isCancelled: true, at: now, &seen)
        case .askByLoader(let load): try retrieve(inside: [loads[load - 1].id], at: now, &seen)
        case .cancel(let caller):
            guard let id = ids[caller - 1], let waiter = waiters.take(id) else { break }
            Answer(to: waiter, machine.cancelWaiter()).callHandlers()
        case .finish(let load, let answer):
            silentLoads.removeAll { $0 == load }
            lastAnswered = load
            running.remove(load)
            let known = answer == .replacedToken ? loads[load - 1].replacing?.value : held
            let answer = LoadAnswer(answer.result(of: load, known: known, at: now), isReported: true)
            try carryOut(machine.loadFinished(loads[load - 1], answer, waiters: waiters.count, at: now), &seen)
        case .answerAgain(let load): machine.loadAnsweredAgain(loads[load - 1])
        case .deadline(let load):
            overdue.insert(load)
            try carryOut(machine.deadlinePassed(loads[load - 1], waiters: waiters.count, at: now), &seen)
        case .invalidate(let value): machine.invalidate(AccessToken(value: value))
        case .signIn: try signIn(AccessToken(value: "S\(session)", expiration: now + Times.life), at: now, &seen)
        case .signInExpired: try signIn(AccessToken(value: "X\(session)", expiration: now - 1), at: now, &seen)
        case .signInWithoutToken: try signIn(nil, at: now, &seen)
        case .signOut: try signOut(&seen)
        case .clock: break
        }
        try observe(&seen)
        return seen
    }

    private mutating func retrieve(
        isCancelled: Bool = false,
        inside loads: [Load.ID] = [],
        at now: Date,
        _ seen: inout Observation
    ) throws {
        outcomes.append(nil)
        ids.append(nil)
        let (caller, log) = (outcomes.count, log)
        let waiter = Waiter.handler { log.answer(caller, $0) }
        switch machine.retrieve(isCancelled: isCancelled, inside: loads, waiters: waiters.count, at: now) {
        case .answer(let result):
            Answer(to: waiter, result).callHandlers()
        case .answerAndLoad(let token, let load):
            Answer(to: waiter, .success(token)).callHandlers()
            try start(load, &seen)
        case .wait:
            ids[caller - 1] = waiters.append(waiter)
        case .waitAndLoad(let load):
            ids[caller - 1] = waiters.append(waiter)
            try start(load, &seen)
        }
        seen.waits = ids[caller - 1] != nil
    }

    private mutating func signIn(_ token: AccessToken?, at now: Date, _ seen: inout Observation) throws {
        switch machine.signIn(token, waiters: waiters.count, at: now) {
        case .nothing: break
        case .answer(let result): answerAll(result)
        case .load(let load): try start(load, &seen)
        }
    }

    private mutating func signOut(_ seen: inout Observation) throws {
        signOutsUnderWay += 1
        cancelled = running
        let log = log
        let action = machine.signOut(inside: [], waiters: waiters.count) { log.signOutIsDone() }
        answerAll(.failure(AccessTokenError.signedOut))
        switch action {
        case .forget(let sessionEpoch, let loads):
            try expectCancelled(loads)
            try forget(sessionEpoch)
        case .wait(let loads):
            try expectCancelled(loads)
        case .done:
            throw Violation("a sign-out from outside of all loads is done at once")
        }
    }

    private func expectCancelled(_ loads: [Load]) throws {
        let numbers = Set(loads.map(\.id.number))
        guard numbers == running else { throw Violation("\(numbers) cancelled, not \(running)") }
    }

    private mutating func carryOut(
        _ action: AccessTokenStateMachine.LoadEndAction,
        _ seen: inout Observation
    ) throws {
        switch action {
        case .nothing: break
        case .answer(let result): answerAll(result)
        case .load(let load): try start(load, &seen)
        case .forget(let sessionEpochs): for epoch in sessionEpochs { try forget(epoch) }
        }
    }

    private mutating func answerAll(_ result: LoadResult) { waiters.takeAll(toAnswer: result).callHandlers() }

    private mutating func forget(_ sessionEpoch: Int) throws {
        let isEarly = loads.contains {
            $0.id.sessionEpoch < sessionEpoch && running.subtracting(overdue).contains($0.id.number)
        }
        guard !isEarly else { throw Violation("the loader forgets while a load can store a credential") }
        for done in machine.forgettingFinished(sessionEpoch) { done() }
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
        guard waiters.count == outcomes.count(where: { $0 == nil }) else {
            throw Violation("\(waiters.count) in the list of waiters, not those that wait")
        }
        guard waiters.count == 0 || machine.isAwaited else { throw Violation("callers wait, and no load is awaited") }
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

extension Date {
    fileprivate var seconds: Double { timeIntervalSinceReferenceDate }
}
