import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

/// What happens to a service, in the words of a scenario: callers have names, and loads have numbers from 1.
struct Story {
    private var machine: AccessTokenStateMachine
    private var now: Date
    private var waiters: [String: Waiter.ID] = [:]
    private let results = Results()

    /// The loads that were started, the oldest first.
    private(set) var loads: [Load] = []

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
        machine = AccessTokenStateMachine(token: token, policy: policy, reportsEvents: false, at: now)
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
        waiters[caller] != nil && results[caller] == nil
    }

    mutating func calls(_ caller: String, inside load: Int? = nil) {
        let context = CallerContext(loads: load.flatMap(started).map { [$0.id] } ?? [])
        let answer: @Sendable (LoadResult) -> Void = { [results] in results[caller] = $0 }
        let action = machine.retrieve(.handler(answer), by: context, at: now)
        if case .wait(let waiter) = action.callers { waiters[caller] = waiter }
        carryOut(action)
    }

    mutating func gives(up caller: String) {
        if let waiter = waiters[caller] { carryOut(machine.cancel(waiter)) }
    }

    mutating func load(_ load: Int, brings token: AccessToken) {
        answer(load, .success(token))
    }

    mutating func load(_ load: Int, failsWith error: any Error) {
        answer(load, .failure(error))
    }

    mutating func load(passesItsDeadline load: Int) {
        if let load = started(load) { carryOut(machine.deadlinePassed(load, at: now)) }
    }

    mutating func server(rejects token: AccessToken) { carryOut(machine.invalidate(token)) }

    mutating func user(signsInWith token: AccessToken?) { carryOut(machine.signIn(token, at: now)) }

    mutating func userSignsOut() { carryOut(machine.signOut(inside: []) {}) }

    mutating func time(passes seconds: TimeInterval) { now += seconds }

    /// A token that expires after these seconds.
    func token(_ value: String, lasting seconds: TimeInterval = 3_600) -> AccessToken {
        AccessToken(value: value, expiration: now + seconds)
    }

    private mutating func answer(_ load: Int, _ result: LoadResult) {
        if let load = started(load) { carryOut(machine.loadFinished(load, result, error: nil, at: now)) }
    }

    private func started(_ load: Int) -> Load? {
        guard load <= loads.count else {
            Issue.record("load \(load) was not started")
            return nil
        }
        return loads[load - 1]
    }

    private mutating func carryOut(_ action: AccessTokenStateMachine.Action) {
        if case .answer(let answer) = action.callers { answer.callHandlers() }
        for case .load(let load) in action.loader where machine.loadBegins(load) { loads.append(load) }
        for case .forget(let session) in action.loader { carryOut(machine.forgettingFinished(session)) }
    }
}

extension AccessTokenStateMachine {
    /// A caller comes whose answer is of no interest.
    mutating func retrieve(inside loads: [LoadID] = [], at now: Date) -> Action {
        retrieve(.handler { _ in }, by: CallerContext(loads: loads), at: now)
    }
}

extension AccessTokenStateMachine.Action {
    func loadToStart() throws -> Load {
        for case .load(let load) in loader { return load }
        throw Violation("no load is to be started")
    }
}
