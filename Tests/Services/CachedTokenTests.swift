import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

/// ``EverySequenceTests`` checks what becomes of a token later, with one policy and one length of life.
@Suite("A token that arrives", .takesTurns)
struct CachedTokenTests {
    let now = ManualClock().now

    struct Case: Sendable {
        /// `nil` is a token without expiration.
        let life: TimeInterval?
        let leeway, ahead: TimeInterval
        /// How long the token is fresh, and how long it is usable.
        let times: [TimeInterval]
    }

    /// What a state machine makes of a token that arrives now.
    private func cachedToken(lasting life: TimeInterval?, policy: AccessTokenPolicy) throws -> CachedToken {
        let token = AccessToken(value: "token", expiration: life.map(now.addingTimeInterval))
        var machine = AccessTokenStateMachine(policy: policy, reportsEvents: false, at: now)
        _ = machine.signIn(token, waiters: 0, at: now)
        return try #require(machine.publishedToken)
    }

    @Test(
        arguments: [
            Case(life: 3600, leeway: 30, ahead: 0, times: [3570, 3570]),
            Case(life: 3600, leeway: 30, ahead: 300, times: [3270, 3570]),
            Case(life: 60, leeway: 30, ahead: 0, times: [30, 30]),
            Case(life: 59, leeway: 30, ahead: 0, times: [29.5, 29.5]),
            Case(life: 10, leeway: .infinity, ahead: 0, times: [5, 5]),
            Case(life: 100, leeway: 20, ahead: 40, times: [40, 80]),
            Case(life: 100, leeway: 20, ahead: 41, times: [40, 80]),
            Case(life: 100, leeway: 1000, ahead: 1000, times: [25, 50]),
            Case(life: 100, leeway: .nan, ahead: -.infinity, times: [100, 100]),
            Case(life: nil, leeway: .infinity, ahead: .infinity, times: [.infinity, .infinity]),
        ]
    )
    func `loses the leeway, then the time in which its successor is loaded (C5), of each no more than half (C4)`(
        of token: Case
    ) throws {
        let policy = AccessTokenPolicy(leeway: token.leeway, refreshAhead: token.ahead)
        let cached = try cachedToken(lasting: token.life, policy: policy)
        let times = [cached.freshUntil, cached.usableUntil].map {
            $0 == .distantFuture ? .infinity : $0.timeIntervalSince(now)
        }
        #expect(times == token.times)
    }

    @Test(arguments: [0, -1, -3600, -Double.infinity, .nan])
    func `when it has expired is good for nothing`(seconds: TimeInterval) throws {
        let cached = try cachedToken(lasting: seconds, policy: AccessTokenPolicy())
        #expect(!cached.isUsable(at: now))
        #expect(!cached.isFresh(at: now))
    }

    @Test
    func `expired is handed out within ten seconds of its arrival, also where the clock was read before it`() throws {
        var machine = AccessTokenStateMachine(policy: AccessTokenPolicy(), reportsEvents: false, at: now)
        let load = try machine.loadForCaller(at: now)
        let token = AccessToken(value: "token", expiration: now - 3_600)
        _ = machine.loadFinished(load, LoadAnswer(.success(token), isReported: false), waiters: 1, at: now)
        let cached = try #require(machine.publishedToken)
        #expect([-11, -10, 9, 10].map { cached.isUsable(at: now + $0) } == [false, true, true, false])
    }

    @Test func `late, and expires before the next load ahead fails, does not replace the valid token (C8)`() throws {
        let policy = AccessTokenPolicy(leeway: 0, refreshAhead: 1_800)
        let valid = AccessToken(value: "valid", expiration: now + 3_600)
        var machine = AccessTokenStateMachine(token: valid, policy: policy, reportsEvents: false, at: now)
        let silent = try machine.loadForCaller(at: now + 2_000)
        _ = machine.deadlinePassed(silent, waiters: 0, at: now + 2_060)
        let next = try machine.loadForCaller(at: now + 2_100)
        let late = AccessToken(value: "late", expiration: now + 2_120)
        let failure = LoadAnswer(.failure(CancellationError()), isReported: false)
        _ = machine.loadFinished(silent, LoadAnswer(.success(late), isReported: false), waiters: 0, at: now + 2_110)
        _ = machine.loadFinished(next, failure, waiters: 0, at: now + 2_130)
        #expect(machine.publishedToken?.token == valid)
    }

    @Test func `by a loader that starts each next load does not make the list of enclosing loads grow`() throws {
        func machine() -> AccessTokenStateMachine {
            AccessTokenStateMachine(policy: AccessTokenPolicy(), reportsEvents: false, at: now)
        }
        var (machine, other) = (machine(), machine())
        let elsewhere = try other.loadForCaller(at: now).id
        var enclosing = [elsewhere]
        for round in 1...5 {
            let load = try machine.loadForCaller(inside: enclosing, at: now)
            #expect(load.enclosing.count == min(round + 1, 3))
            #expect(load.enclosing.first == elsewhere)
            #expect(load.enclosing.last == load.id)
            enclosing = load.enclosing
            // Those who wait on after a sign-in wait inside of the same loads.
            _ = machine.signIn(nil, waiters: 1, at: now)
            let failure = LoadAnswer(.failure(CancellationError()), isReported: false)
            guard case .load(let next) = machine.loadFinished(load, failure, waiters: 1, at: now) else {
                Issue.record("the load for those who wait on does not start")
                return
            }
            _ = machine.loadBegins(next)
            #expect(next.enclosing == load.enclosing.dropLast() + [next.id])
            _ = machine.loadFinished(next, failure, waiters: 1, at: now)
        }
    }
}
