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
        let first = machine.retrieve(waiters: 0, at: now).start
        guard case .load(let second) = machine.signIn(nil, waiters: 1, at: now) else {
            throw Violation("nobody loads for those who wait")
        }
        let (former, current) = (try #require(first).load, second.load)
        #expect(former.sessionEpoch < current.sessionEpoch)
        return (former, current)
    }

    @Test func `a sign-out waits for the loads of former sessions only, and once`() throws {
        let (former, current) = try twoLoads()
        var running = RunningLoads()
        running.begin(former)
        running.begin(current)
        let ends = Locked(0)
        let isWaiting = running.wait(forSessionsBefore: current.sessionEpoch) { ends.withLock { $0 += 1 } }
        #expect(isWaiting)
        #expect(running.end(current).isEmpty)
        for action in running.end(former) { action() }
        #expect(ends.withLock { $0 } == 1)
        #expect(running.end(former).isEmpty)
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
            #expect(running.wait(forSessionsBefore: epoch) { ended.withLock { $0.append(epoch) } })
        }
        for action in running.end(former) { action() }
        #expect(ended.withLock { $0 } == [epochs[0]])
        for action in running.end(current) { action() }
        #expect(ended.withLock { $0 } == epochs)
    }

    @Test func `there is nothing to wait for while only loads of the present session run`() throws {
        let (former, current) = try twoLoads()
        var running = RunningLoads()
        running.begin(current)
        #expect(!running.wait(forSessionsBefore: current.sessionEpoch) {})
        running.begin(former)
        _ = running.end(former)
        #expect(!running.wait(forSessionsBefore: current.sessionEpoch) {})
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
