import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@Suite("A clock that is moved by hand", .takesTurnsToWait)
struct ManualClockTests {
    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var entries: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let log = Log()
    private let start = Date(timeIntervalSince1970: 1000)
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1000))

    private func logs(_ line: String, after delay: TimeInterval) -> AccessTokenTimer {
        clock.schedule(after: delay) { [log] in log.append(line) }
    }

    @Test func `fires timers in the order of their times, then of their making, and shows each its own time`() {
        for (name, delay) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("late", 4)] as [(String, Double)] {
            _ = clock.schedule(after: delay) { [log, start, clock] in
                log.append("\(name) at \(clock.now.timeIntervalSince(start))")
            }
        }
        clock.advance(by: 3)
        #expect(clock.now == start + 3)
        #expect(log.entries == ["a at 1.0", "b1 at 2.0", "b2 at 2.0", "c at 3.0"])
        #expect(clock.pendingTimers == 1)
        clock.advance(by: 1)
        #expect(log.entries.last == "late at 4.0")
        #expect(clock.pendingTimers == 0)
    }

    @Test func `fires no timer early, nor while it is being made`() {
        _ = logs("zero", after: 0)
        _ = logs("one", after: 1)
        #expect(log.entries == [])
        clock.advance(by: 0)
        #expect(log.entries == ["zero"])
        clock.advance(by: 0.999)
        #expect(log.entries == ["zero"])
    }

    @Test func `fires no cancelled timer, and lets go of what it holds`() {
        final class Owner: Sendable {}
        var owner: Owner? = Owner()
        let witness = WeakReference(owner)
        let timer = clock.schedule(after: 1) { [log, owner] in log.append("\(owner as Any)") }
        owner = nil
        #expect(clock.pendingTimers == 1)
        timer.cancel()
        timer.cancel()
        #expect(clock.pendingTimers == 0)
        #expect(witness.object == nil)
        clock.advance(by: 10)
        #expect(log.entries == [])
    }

    @Test func `lets a timer make another one on the way, and cancel one that is due at the same time`() {
        final class Holder: Sendable { let timer = Locked<AccessTokenTimer?>(nil) }
        let holder = Holder()
        _ = clock.schedule(after: 1) { [log, clock] in
            log.append("first")
            _ = clock.schedule(after: 1) { log.append("second") }
            _ = clock.schedule(after: 2) { log.append("third") }
            holder.timer.withLock(\.self)?.cancel()
        }
        let late = logs("cancelled", after: 1)
        holder.timer.withLock { $0 = late }
        clock.advance(by: 2)
        #expect(log.entries == ["first", "second"])
    }

    @Test func `fires nothing when the wall clock is set, back an hour or forward`() {
        _ = logs("fired", after: 10)
        for hour in [-3600.0, 3600, -3600] {
            clock.setWallClock(to: start + hour)
            #expect(clock.now == start + hour)
        }
        clock.advance(by: 9)
        #expect(log.entries == [])
        clock.advance(by: 1)
        #expect(log.entries == ["fired"])
        #expect(clock.now == start - 3590)
    }

    @Test(arguments: [-1, -Double.infinity, .nan])
    func `never goes backwards by itself`(seconds: TimeInterval) {
        clock.advance(by: seconds)
        #expect(clock.now == start)
    }

    @Test func `never goes backwards when a timer moves it further than it was to go`() {
        _ = clock.schedule(after: 1) { [clock] in clock.advance(by: 10) }
        clock.advance(by: 2)
        #expect(clock.now == start + 11)
        _ = logs("fired", after: 1)
        clock.advance(by: 1)
        #expect(log.entries == ["fired"])
    }
}
