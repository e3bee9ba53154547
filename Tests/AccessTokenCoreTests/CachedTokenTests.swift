import AccessTokenCore
import Foundation
import Testing

/// What a state machine makes of a token that arrives at `now` and lasts that many seconds; `nil` is for ever.
func cachedToken(lasting seconds: TimeInterval?, from now: Date, policy: AccessTokenPolicy) -> CachedToken? {
    var machine = AccessTokenStateMachine<Int>(policy: policy, reportsEvents: false)
    _ = machine.signIn(AccessToken(value: "token", expiration: seconds.map(now.addingTimeInterval)), at: now)
    return machine.publishedToken
}

@Suite("A token that arrives")
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
        var machine = AccessTokenStateMachine<Int>(policy: policy, reportsEvents: false)
        _ = machine.signIn(AccessToken(value: "token", expiration: now.addingTimeInterval(3600)), at: now)
        let instant = now.addingTimeInterval(3570)
        let before = Date(timeIntervalSinceReferenceDate: instant.timeIntervalSinceReferenceDate.nextDown)
        #expect(machine.retrieve(1, at: before).ticket == nil)
        #expect(machine.retrieve(2, at: instant).ticket != nil)
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

    @Test("loses no more than half of the rest to loading ahead, so that it is fresh for a while at least (C4)")
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

    @Test("when it has expired goes once to those who wait, and the next caller loads")
    func expiredOnArrivalIsHandedOutOnce() throws {
        var machine = AccessTokenStateMachine<Int>(policy: AccessTokenPolicy(), reportsEvents: false)
        guard case .startLoad(let flight, _, _) = machine.retrieve(1, at: now).effects.first else {
            Issue.record("no load started")
            return
        }
        let expired = AccessToken(value: "expired", expiration: now.addingTimeInterval(-3600))
        let answer = try #require(machine.loadFinished(flight, .success(expired), at: now).answer)
        #expect(try answer.result.get() == expired)
        guard case .startLoad(let next, let old, _) = machine.retrieve(2, at: now).effects.first else {
            Issue.record("the next caller did not load")
            return
        }
        #expect(next.number == flight.number + 1)
        #expect(old == expired)
    }

    @Test("keeps the end that it had on arrival when the wall clock is set back an hour")
    func wallClockSetBack() {
        var machine = AccessTokenStateMachine<Int>(policy: AccessTokenPolicy(leeway: 0), reportsEvents: false)
        _ = machine.signIn(AccessToken(value: "token", expiration: now.addingTimeInterval(60)), at: now)
        let action = machine.retrieve(1, at: now.addingTimeInterval(-3600))
        #expect(action.ticket == nil)
        #expect(action.effects.isEmpty)
        #expect(machine.retrieve(2, at: now.addingTimeInterval(59)).ticket == nil)
        #expect(machine.retrieve(3, at: now.addingTimeInterval(60)).ticket != nil)
    }
}
