import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

/// What a state machine makes of a token that arrives at `now` and lasts that many seconds; `nil` is for ever.
func cachedToken(lasting seconds: TimeInterval?, from now: Date, policy: AccessTokenPolicy) -> CachedToken? {
    var machine = AccessTokenStateMachine(service: ServiceID(), policy: policy, reportsEvents: false)
    let token = AccessToken(value: "token", expiration: seconds.map(now.addingTimeInterval))
    _ = machine.signIn(token, waiters: 0, at: now)
    return machine.publishedToken
}

/// ``EverySequenceTests`` checks what becomes of a token later, with one policy and one length of life.
@Suite("A token that arrives", .eightAtATime)
struct CachedTokenTests {
    let now = ManualClock().now

    struct Case: Sendable {
        let life, leeway, ahead: TimeInterval
        /// How long the token is fresh, and how long it is usable.
        let times: [TimeInterval]
    }

    @Test(
        "loses the leeway, then the time in which its successor is loaded (C5), of each no more than half (C4)",
        arguments: [
            Case(life: 3600, leeway: 30, ahead: 0, times: [3570, 3570]),
            Case(life: 3600, leeway: 30, ahead: 300, times: [3270, 3570]),
            Case(life: 60, leeway: 30, ahead: 0, times: [30, 30]),
            Case(life: 59, leeway: 30, ahead: 0, times: [29.5, 29.5]),
            Case(life: 10, leeway: .infinity, ahead: 0, times: [5, 5]),
            Case(life: 100, leeway: 20, ahead: 40, times: [40, 80]),
            Case(life: 100, leeway: 20, ahead: 41, times: [40, 80]),
            Case(life: 100, leeway: 1000, ahead: 1000, times: [25, 50]),
        ]
    )
    func times(of token: Case) throws {
        let policy = AccessTokenPolicy(leeway: token.leeway, refreshAhead: token.ahead)
        let cached = try #require(cachedToken(lasting: token.life, from: now, policy: policy))
        #expect([cached.freshUntil, cached.usableUntil].map { $0.timeIntervalSince(now) } == token.times)
    }

    @Test("without expiration is good until it is rejected (C3)")
    func withoutExpiration() throws {
        let policy = AccessTokenPolicy(leeway: .infinity, refreshAhead: .infinity)
        let cached = try #require(cachedToken(lasting: nil, from: now, policy: policy))
        #expect(cached.usableUntil == .distantFuture)
        #expect(cached.freshUntil == .distantFuture)
    }

    @Test("when it has expired is good for nothing", arguments: [0, -1, -3600, -Double.infinity, .nan])
    func expiredOnArrival(seconds: TimeInterval) throws {
        let cached = try #require(cachedToken(lasting: seconds, from: now, policy: AccessTokenPolicy()))
        #expect(!cached.isUsable(at: now))
        #expect(!cached.isFresh(at: now))
    }

    @Test("by a loader that starts each next load does not make the list of enclosing loads grow")
    func enclosingLoads() throws {
        func machine() -> AccessTokenStateMachine {
            AccessTokenStateMachine(service: ServiceID(), policy: AccessTokenPolicy(), reportsEvents: false)
        }
        var (machine, other) = (machine(), machine())
        let elsewhere = try #require(other.retrieve(by: CallerContext(), waiters: 0, at: now).start).load
        var enclosing = [elsewhere]
        for round in 1...5 {
            let caller = CallerContext(loads: enclosing)
            let start = try #require(machine.retrieve(by: caller, waiters: 0, at: now).start)
            #expect(start.enclosing.count == min(round + 1, 3))
            #expect(start.enclosing.first == elsewhere)
            #expect(start.enclosing.last == start.load)
            enclosing = start.enclosing
            _ = machine.loadFinished(start.load, .failure(CancellationError()), error: nil, waiters: 0, at: now)
        }
    }
}
