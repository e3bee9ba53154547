import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

/// A state machine with its list of waiters, as a shell has them.
struct MachineWithWaiters {
    var machine: AccessTokenStateMachine
    var waiters = WaiterList<Int>()

    init(policy: AccessTokenPolicy = AccessTokenPolicy(), reportsEvents: Bool = false) {
        machine = AccessTokenStateMachine(service: ServiceID(), policy: policy, reportsEvents: reportsEvents)
    }

    mutating func signIn(_ token: AccessToken, at now: Date) {
        if case .answerWaiters = machine.signIn(token, waiters: waiters.count, at: now) { _ = waiters.takeAll() }
    }

    mutating func retrieve(_ waiter: Int, at now: Date) -> AccessTokenStateMachine.RetrieveAction {
        let action = machine.retrieve(waiters: waiters.count, at: now)
        if action.waits { _ = waiters.append(waiter) }
        return action
    }

    func firstLoad(at now: Date) -> LoadID? {
        var machine = machine
        return machine.retrieve(waiters: 0, at: now).start?.load
    }

    @discardableResult
    mutating func finish(_ start: LoadStart, _ result: LoadResult, at now: Date) -> LoadResult? {
        answer(machine.loadFinished(start.load, result, error: nil, waiters: waiters.count, at: now))
    }

    mutating func passDeadline(of start: LoadStart, at now: Date) {
        answer(machine.deadlinePassed(start.load, waiters: waiters.count, at: now))
    }

    @discardableResult
    private mutating func answer(_ result: LoadResult?) -> LoadResult? {
        if result != nil { _ = waiters.takeAll() }
        return result
    }
}

extension AccessTokenStateMachine.RetrieveAction {
    /// Whether the caller is to be put into the list of waiters.
    var waits: Bool { answer == nil }
}

/// What a state machine makes of a token that arrives at `now` and lasts that many seconds; `nil` is for ever.
func cachedToken(lasting seconds: TimeInterval?, from now: Date, policy: AccessTokenPolicy) -> CachedToken? {
    signedIn(lasting: seconds, from: now, policy: policy).machine.publishedToken
}

func signedIn(lasting seconds: TimeInterval?, from now: Date, policy: AccessTokenPolicy) -> MachineWithWaiters {
    var machine = MachineWithWaiters(policy: policy)
    machine.signIn(AccessToken(value: "token", expiration: seconds.map(now.addingTimeInterval)), at: now)
    return machine
}

@Suite("A token that arrives", .eightAtATime)
struct CachedTokenTests {
    let now = ManualClock().now

    private func times(lasting seconds: TimeInterval, leeway: TimeInterval, ahead: TimeInterval) -> [TimeInterval] {
        let policy = AccessTokenPolicy(leeway: leeway, refreshAhead: ahead)
        guard let cached = cachedToken(lasting: seconds, from: now, policy: policy) else { return [] }
        return [cached.freshUntil.timeIntervalSince(now), cached.usableUntil.timeIntervalSince(now)]
    }

    @Test("counts as expired from its expiration less the leeway on, that instant included (C2)")
    func expiresAtTheInstant() throws {
        let policy = AccessTokenPolicy(leeway: 30)
        var machine = MachineWithWaiters(policy: policy)
        machine.signIn(AccessToken(value: "token", expiration: now.addingTimeInterval(3600)), at: now)
        let instant = now.addingTimeInterval(3570)
        let before = Date(timeIntervalSinceReferenceDate: instant.timeIntervalSinceReferenceDate.nextDown)
        #expect(!machine.retrieve(1, at: before).waits)
        #expect(machine.retrieve(2, at: instant).waits)
    }

    @Test("loses the leeway, then the time in which its successor is loaded (C5)")
    func leewayThenRefreshAhead() {
        #expect(times(lasting: 3600, leeway: 30, ahead: 0) == [3570, 3570])
        #expect(times(lasting: 3600, leeway: 30, ahead: 300) == [3270, 3570])
    }

    @Test("loses no more than half of its life to the leeway (C4)")
    func leewayIsCapped() {
        #expect(times(lasting: 60, leeway: 30, ahead: 0) == [30, 30])
        #expect(times(lasting: 59, leeway: 30, ahead: 0) == [29.5, 29.5])
        #expect(times(lasting: 10, leeway: 3600, ahead: 0) == [5, 5])
        #expect(times(lasting: 10, leeway: .infinity, ahead: 0) == [5, 5])
    }

    @Test("loses no more than half of the rest to loading ahead, and is fresh for a while at least (C4)")
    func refreshAheadIsCapped() {
        #expect(times(lasting: 100, leeway: 20, ahead: 40) == [40, 80])
        #expect(times(lasting: 100, leeway: 20, ahead: 41) == [40, 80])
        #expect(times(lasting: 100, leeway: 1000, ahead: 1000) == [25, 50])
    }

    @Test("without expiration is good until it is rejected (C3)")
    func withoutExpiration() throws {
        let policy = AccessTokenPolicy(leeway: .infinity, refreshAhead: .infinity)
        let cached = try #require(cachedToken(lasting: nil, from: now, policy: policy))
        #expect(cached.usableUntil == .distantFuture)
        #expect(cached.freshUntil == .distantFuture)
    }

    @Test("when it has expired is good for nothing afterwards", arguments: [0, -1, -3600, -Double.infinity, .nan])
    func expiredOnArrival(seconds: TimeInterval) throws {
        let cached = try #require(cachedToken(lasting: seconds, from: now, policy: AccessTokenPolicy()))
        #expect(!(now < cached.usableUntil))
        #expect(!(now < cached.freshUntil))
    }

    @Test("from a load when it has expired is handed out for the minimum interval, and then loaded again")
    func expiredOnArrivalIsHandedOutForAMoment() throws {
        var machine = MachineWithWaiters(policy: AccessTokenPolicy(minimumLoadInterval: 10))
        let expired = AccessToken(value: "expired", expiration: now.addingTimeInterval(-3600))
        for round in 0..<3 {
            let start = now.addingTimeInterval(10 * Double(round))
            let load = try #require(machine.retrieve(1, at: start).start)
            #expect(load.load.number == round + 1)
            #expect(load.replacing == (round == 0 ? nil : expired))
            let end = machine.finish(load, .success(expired), at: start)
            #expect(try end?.get() == expired)
            for second in 0..<10 {
                let retrieval = machine.retrieve(2, at: start.addingTimeInterval(Double(second)))
                #expect(try retrieval.answer?.get() == expired)
                #expect(retrieval.start == nil)
            }
        }
    }

    @Test("that had expired by a wrong clock is not handed out by the corrected one, once it really has expired")
    func expiredByAWrongClock() throws {
        var machine = MachineWithWaiters(policy: AccessTokenPolicy(leeway: 0, minimumLoadInterval: 10))
        let years: TimeInterval = 70 * 365 * 86_400
        let load = try #require(machine.retrieve(1, at: now + years).start)
        let token = AccessToken(value: "token", expiration: now + 3600)
        machine.finish(load, .success(token), at: now + years)
        #expect(try machine.retrieve(2, at: now + years + 9).answer?.get() == token)
        #expect(try machine.retrieve(3, at: now).answer?.get() == token, "the corrected clock says that it is valid")
        #expect(machine.retrieve(4, at: now + 3600).start != nil, "the corrected clock says that it has expired")
    }

    @Test("late is not adopted after the token of a newer load was rejected (T2)")
    func olderThanTheRejectedOne() throws {
        var machine = MachineWithWaiters()
        let first = try #require(machine.retrieve(1, at: now).start)
        machine.passDeadline(of: first, at: now)
        let second = try #require(machine.retrieve(2, at: now).start)
        let token = AccessToken(value: "second")
        machine.finish(second, .success(token), at: now)
        machine.machine.invalidate(token)
        machine.finish(first, .success(AccessToken(value: "first")), at: now)
        #expect(machine.retrieve(3, at: now).start?.replacing == token)
    }

    @Test("by a loader that starts each next load does not make the list of enclosing loads grow")
    func enclosingLoads() throws {
        var machine = MachineWithWaiters()
        let elsewhere = try #require(MachineWithWaiters().firstLoad(at: now))
        var enclosing = [elsewhere]
        for round in 1...5 {
            let caller = CallerContext(loads: enclosing)
            let start = try #require(machine.machine.retrieve(by: caller, waiters: 0, at: now).start)
            #expect(start.enclosing.count == min(round + 1, 3))
            #expect(start.enclosing.first == elsewhere)
            #expect(start.enclosing.last == start.load)
            enclosing = start.enclosing
            machine.finish(start, .failure(CancellationError()), at: now)
        }
    }
}
