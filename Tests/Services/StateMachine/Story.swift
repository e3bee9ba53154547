import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

/// What happens to a service, in the words of a scenario: callers have names, and loads have numbers from 1.
struct Story {
    private var machine: AccessTokenStateMachine
    private var waiters = Waiters()
    private var now: Date
    private var ids: [String: Waiter.ID] = [:]
    private let results = Results()

    /// The loads that were started, the oldest first.
    private(set) var loads: [Load] = []

    /// The session epochs whose forgetting the loader was asked for, the oldest first.
    private(set) var forgettings: [Int] = []
    var loaderForgetsAtOnce = true
    /// Whether the loader cannot be asked: loads are started, and not begun.
    var loaderIsBusy = false
    /// How many loads are running that are not the current one any more.
    var formerLoads: Int { machine.formerLoads.count }
    var signOuts: Int { machine.signOuts }

    /// What the callers were answered with.
    private final class Results: Sendable {
        private let results = Locked<[String: LoadResult]>([:])

        subscript(caller: String) -> LoadResult? {
            get { results.withLock { $0[caller] } }
            set { results.withLock { $0[caller] = newValue } }
        }
    }

    init(token: AccessToken? = nil, policy: AccessTokenPolicy = AccessTokenPolicy()) {
        now = ManualClock().now
        machine = AccessTokenStateMachine(token: token, policy: policy, reportsEvents: true, at: now)
    }

    var status: SessionStatus {
        machine.outlook.status(of: machine.publishedToken, isSignedOut: machine.isSignedOut, at: now).status
    }
    var subject: String? { machine.outlook.subject }
    var changes: UInt32 { machine.changes }
    /// The token that callers are given, if it is valid.
    var published: AccessToken? { machine.publishedToken.flatMap { $0.isUsable(at: now) ? $0.token : nil } }
    var userChanges: Int { machine.userChanges }

    /// What was reported until now.
    var events: [AccessTokenEvent.Kind] {
        var copy = machine
        return copy.takeEvents().map(\.kind)
    }

    /// What each load was told to replace.
    var replacing: [AccessToken?] { loads.map(\.replacing) }

    /// The token that a caller was given; `nil` if the caller waits, or got an error.
    func token(of caller: String) -> AccessToken? { try? results[caller]?.get() }

    /// The error that a caller got.
    func error(of caller: String) -> (any Error)? {
        if case .failure(let error) = results[caller] { error } else { nil }
    }

    func waits(_ caller: String) -> Bool {
        ids[caller] != nil && results[caller] == nil
    }

    mutating func calls(_ caller: String, inside load: Int) {
        calls(caller, inside: started(load).map { [$0.id] } ?? [])
    }

    mutating func calls(_ caller: String, inside loads: [Load.ID] = []) {
        let waiter = Waiter.handler { [results] in results[caller] = $0 }
        switch machine.retrieve(inside: loads, waiters: waiters.count, at: now) {
        case .answer(let result):
            Answer(to: waiter, result).callHandlers()
        case .answerAndLoad(let token, let load):
            Answer(to: waiter, .success(token)).callHandlers()
            start(load)
        case .wait:
            ids[caller] = waiters.append(waiter)
        case .waitAndLoad(let load):
            ids[caller] = waiters.append(waiter)
            start(load)
        }
    }

    mutating func gives(up caller: String) {
        guard let id = ids[caller], let waiter = waiters.take(id) else { return }
        Answer(to: waiter, machine.cancelWaiter()).callHandlers()
    }

    mutating func load(_ load: Int, brings token: AccessToken) {
        answer(load, .success(token))
    }

    mutating func load(_ load: Int, failsWith error: any Error) {
        answer(load, .failure(error))
    }

    mutating func load(passesItsDeadline load: Int) {
        if let load = started(load) { carryOut(machine.deadlinePassed(load, waiters: waiters.count, at: now)) }
    }

    mutating func server(rejects token: AccessToken) { machine.invalidate(token) }

    mutating func user(signsInWith token: AccessToken?) {
        switch machine.signIn(token, waiters: waiters.count, at: now) {
        case .nothing: break
        case .answer(let result): answerAll(result)
        case .load(let load): start(load)
        }
    }

    /// - Parameter changes: those that there were when the look began; the present ones if nothing is said.
    mutating func app(finds stored: StoredSession?, since changes: UInt32? = nil) {
        _ = machine.looked(stored, since: changes ?? machine.changes, at: now)
    }

    /// - Parameter load: the load inside which the user does so.
    mutating func userSignsOut(inside load: Int? = nil, then done: @escaping @Sendable () -> Void = {}) {
        let loads = load.flatMap(started).map { [$0.id] } ?? []
        guard !machine.isLateSignOut(inside: loads) else { return done() }
        let action = machine.signOut(inside: loads, waiters: waiters.count, then: done)
        answerAll(.failure(AccessTokenError.signedOut))
        switch action {
        case .forget(let sessionEpoch, _): forget(sessionEpoch)
        case .wait: break
        case .done: done()
        }
    }

    mutating func time(passes seconds: TimeInterval) { now += seconds }

    /// A token that expires after these seconds.
    func token(_ value: String, lasting seconds: TimeInterval = 3_600) -> AccessToken {
        AccessToken(value: value, expiration: now + seconds)
    }

    private mutating func answer(_ load: Int, _ result: LoadResult) {
        guard let load = started(load) else { return }
        let answer = LoadAnswer(result, isReported: false)
        carryOut(machine.loadFinished(load, answer, waiters: waiters.count, at: now))
    }

    private func started(_ load: Int) -> Load? {
        guard load <= loads.count else {
            Issue.record("load \(load) was not started")
            return nil
        }
        return loads[load - 1]
    }

    private mutating func carryOut(_ action: AccessTokenStateMachine.LoadEndAction) {
        switch action {
        case .nothing: break
        case .answer(let result): answerAll(result)
        case .load(let load): start(load)
        case .forget(let sessionEpochs): sessionEpochs.forEach { forget($0) }
        }
    }

    private mutating func answerAll(_ result: LoadResult) { waiters.takeAll(toAnswer: result).callHandlers() }

    private mutating func start(_ load: Load) {
        loads.append(load)
        if !loaderIsBusy { _ = machine.loadBegins(load) }
    }

    private mutating func forget(_ sessionEpoch: Int) {
        forgettings.append(sessionEpoch)
        if loaderForgetsAtOnce { loaderHasForgotten(forgettings.count) }
    }

    /// - Parameter forgetting: the number of the forgetting, from 1.
    mutating func loaderHasForgotten(_ forgetting: Int) {
        for done in machine.forgettingFinished(forgettings[forgetting - 1]) { done() }
    }
}

extension AccessTokenStateMachine {
    /// The load that a caller starts whose answer is of no interest, and that is begun at once.
    mutating func loadForCaller(inside loads: [Load.ID] = [], at now: Date) throws -> Load {
        switch retrieve(inside: loads, waiters: 0, at: now) {
        case .answerAndLoad(_, let load), .waitAndLoad(let load):
            _ = loadBegins(load)
            return load
        case .answer, .wait: throw Violation("no load is to be started")
        }
    }
}
