import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("Which loads are running", .eightAtATime)
struct RunningLoadsTests {
    private let now = Date(timeIntervalSinceReferenceDate: 0)

    /// A load of a first session, and one of the session after it.
    private func twoLoads() throws -> (LoadID, LoadID) {
        var machine = AccessTokenStateMachine(
            service: ServiceID(),
            policy: AccessTokenPolicy(),
            reportsEvents: false
        )
        let first = machine.retrieve(by: CallerContext(), waiters: 0, at: now).start
        let second = machine.signIn(nil, waiters: 1, at: now).start
        let (former, current) = (try #require(first).load, try #require(second).load)
        #expect(former.sessionEpoch < current.sessionEpoch)
        return (former, current)
    }

    @Test(arguments: [false, true])
    func `each sign-out waits for the sessions before it, whichever comes first`(isLaterFirst: Bool) throws {
        let (former, current) = try twoLoads()
        var running = RunningLoads()
        running.begin(former)
        running.begin(current)
        let ended = Locked<[Int]>([])
        let epochs = [current.sessionEpoch, current.sessionEpoch + 1]
        for epoch in isLaterFirst ? epochs.reversed() : epochs {
            running.whenOver(before: epoch) { ended.withLock { $0.append(epoch) } }
        }
        #expect(ended.withLock { $0 } == [])
        running.end(former)
        #expect(ended.withLock { $0 } == [epochs[0]])
        running.end(current)
        #expect(ended.withLock { $0 } == epochs)
    }

    @Test func `there is nothing to wait for while only loads of the present session run`() throws {
        let (_, current) = try twoLoads()
        var running = RunningLoads()
        let hasEnded = Locked(false)
        running.begin(current)
        running.whenOver(before: current.sessionEpoch) { hasEnded.withLock { $0 = true } }
        #expect(hasEnded.withLock { $0 })
    }

    @Test func `a load of another service is none of these, whatever its number`() throws {
        let (load, _) = try twoLoads()
        let (ofAnother, _) = try twoLoads()
        var running = RunningLoads()
        running.begin(load)
        #expect(running.contains(oneOf: [ofAnother, load]))
        #expect(!running.contains(oneOf: [ofAnother]))
    }
}
