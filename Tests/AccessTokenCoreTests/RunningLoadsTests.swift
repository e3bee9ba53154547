import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("Which loads are running", .eightAtATime)
struct RunningLoadsTests {
    private let now = Date(timeIntervalSinceReferenceDate: 0)

    /// A load of a first session, and one of the session after it.
    private func twoLoads() throws -> (FlightID, FlightID) {
        var machine = AccessTokenStateMachine(
            service: ServiceID(),
            policy: AccessTokenPolicy(),
            reportsEvents: false
        )
        var waiters = WaiterList<Int>()
        let first = try #require(machine.retrieve(1, in: &waiters, at: now).start)
        let second = try #require(machine.signIn(in: &waiters, at: now).start)
        #expect(first.flight.sessionEpoch < second.flight.sessionEpoch)
        return (first.flight, second.flight)
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
        let (service, other) = (ServiceID(), ServiceID())
        var running = RunningLoads()
        running.begin(load)
        #expect(running.contains(oneOf: [LoadID(service: service, flight: load)], of: service))
        #expect(!running.contains(oneOf: [LoadID(service: other, flight: load)], of: service))
    }
}
