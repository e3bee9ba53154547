import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("The snapshot that callers read", .eightAtATime)
struct TokenSnapshotTests {
    let now = ManualClock().now
    let policy = AccessTokenPolicy(leeway: 10, refreshAhead: 20)

    private func machine(lasting seconds: TimeInterval?, from now: Date, policy: AccessTokenPolicy)
        -> AccessTokenStateMachine
    {
        signedIn(lasting: seconds, from: now, policy: policy).machine
    }

    @Test("is empty at first, and again when nothing is published")
    func empty() {
        let snapshot = TokenSnapshot(reportsHits: false)
        #expect(snapshot.usableToken(at: now) == nil)
        snapshot.publish(machine(lasting: nil, from: now, policy: policy))
        #expect(snapshot.usableToken(at: now) != nil)
        #expect(snapshot.freshToken(at: now) != nil)
        snapshot.publish(MachineWithWaiters().machine)
        #expect(snapshot.usableToken(at: now) == nil)
        #expect(snapshot.freshToken(at: now) == nil)
    }

    @Test("gives a token until its successor has to be loaded (C5), or until it counts as expired (C2)")
    func fresh() {
        let snapshot = TokenSnapshot(reportsHits: false)
        snapshot.publish(machine(lasting: 100, from: now, policy: policy))
        #expect(snapshot.freshToken(at: now + 69.9)?.value == "token")
        #expect(snapshot.freshToken(at: now + 70) == nil)
        #expect(snapshot.usableToken(at: now + 89.9)?.value == "token")
        #expect(snapshot.usableToken(at: now + 90) == nil)
        #expect(snapshot.freshToken(at: now + 90) == nil)
    }

    @Test("sends every caller to the state machine while events are reported, and keeps the valid token readable")
    func withEvents() {
        var machine = MachineWithWaiters(policy: policy, reportsEvents: true)
        machine.signIn(AccessToken(value: "token"), at: now)
        let snapshot = TokenSnapshot(reportsHits: true)
        snapshot.publish(machine.machine)
        #expect(snapshot.freshToken(at: now) == nil)
        #expect(snapshot.usableToken(at: now)?.value == "token")
    }

    @Test("gives the old token without another question while its successor is loaded behind (C5)")
    func renewing() {
        var machine = MachineWithWaiters(policy: policy)
        machine.signIn(AccessToken(value: "token", expiration: now + 100), at: now)
        #expect(!machine.retrieve(1, at: now + 70).waits)
        let snapshot = TokenSnapshot(reportsHits: false)
        snapshot.publish(machine.machine)
        #expect(snapshot.freshToken(at: now + 89.9)?.value == "token")
        #expect(snapshot.freshToken(at: now + 90) == nil)
    }
}
