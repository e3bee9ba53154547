import AccessTokenContract
import AccessTokenCore
import Foundation
import TestSupport
import Testing

@Suite("A clock that is moved by hand", .eightAtATime)
struct ManualClockTests {
    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var entries: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private let start = Date(timeIntervalSince1970: 1000)
    private let log = Log()

    @Test("stands still until it is moved")
    func standsStill() {
        let clock = ManualClock(now: start)
        #expect(clock.now == start)
        clock.advance(by: 2.5)
        #expect(clock.now == start + 2.5)
    }

    @Test("fires timers in the order of their times, then of their making, and shows each its own time")
    func order() {
        let clock = ManualClock(now: start)
        for (name, delay) in [("c", 3), ("a", 1), ("b1", 2), ("b2", 2), ("late", 4)] as [(String, Double)] {
            _ = clock.schedule(after: delay) { [log, start] in
                log.append("\(name) at \(clock.now.timeIntervalSince(start))")
            }
        }
        clock.advance(by: 3)
        #expect(log.entries == ["a at 1.0", "b1 at 2.0", "b2 at 2.0", "c at 3.0"])
        #expect(clock.pendingTimers == 1)
        clock.advance(by: 1)
        #expect(log.entries.last == "late at 4.0")
        #expect(clock.pendingTimers == 0)
    }

    @Test("fires no timer early, nor while it is being made")
    func notEarly() {
        let clock = ManualClock(now: start)
        _ = clock.schedule(after: 0) { [log] in log.append("zero") }
        _ = clock.schedule(after: 1) { [log] in log.append("one") }
        #expect(log.entries == [])
        clock.advance(by: 0)
        #expect(log.entries == ["zero"])
        clock.advance(by: 0.999)
        #expect(log.entries == ["zero"])
    }

    @Test("fires no cancelled timer, and lets go of what it holds")
    func cancel() {
        final class Owner: Sendable {}
        let clock = ManualClock(now: start)
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

    @Test("fires a timer that another one makes on the way")
    func timerMakesTimer() {
        let clock = ManualClock(now: start)
        _ = clock.schedule(after: 1) { [log] in
            log.append("first")
            _ = clock.schedule(after: 1) { log.append("second") }
            _ = clock.schedule(after: 2) { log.append("third") }
        }
        clock.advance(by: 2)
        #expect(log.entries == ["first", "second"])
    }

    @Test("lets a timer cancel another one that is due at the same time")
    func timerCancelsTimer() {
        let clock = ManualClock(now: start)
        final class Holder: Sendable { let timer = Locked<AccessTokenTimer?>(nil) }
        let holder = Holder()
        _ = clock.schedule(after: 1) { holder.timer.withLock(\.self)?.cancel() }
        holder.timer.withLock { $0 = clock.schedule(after: 1) { [log] in log.append("cancelled") } }
        clock.advance(by: 1)
        #expect(log.entries == [])
    }

    @Test("fires nothing when the wall clock is set, back an hour or forward")
    func setWallClock() {
        let clock = ManualClock(now: start)
        _ = clock.schedule(after: 10) { [log] in log.append("fired") }
        clock.setWallClock(to: start - 3600)
        #expect(clock.now == start - 3600)
        clock.setWallClock(to: start + 3600)
        #expect(log.entries == [])
        clock.setWallClock(to: start - 3600)
        clock.advance(by: 9)
        #expect(log.entries == [])
        clock.advance(by: 1)
        #expect(log.entries == ["fired"])
        #expect(clock.now == start - 3590)
    }

    @Test("never goes backwards by itself", arguments: [-1, -Double.infinity, .nan])
    func neverBackwards(seconds: TimeInterval) {
        let clock = ManualClock(now: start)
        clock.advance(by: seconds)
        #expect(clock.now == start)
    }

    @Test("never goes backwards when a timer moves it further than it was to go")
    func nestedAdvance() {
        let clock = ManualClock(now: start)
        _ = clock.schedule(after: 1) { clock.advance(by: 10) }
        clock.advance(by: 2)
        #expect(clock.now == start + 11)
        _ = clock.schedule(after: 1) { [log] in log.append("fired") }
        clock.advance(by: 1)
        #expect(log.entries == ["fired"])
    }
}
