public import AccessTokenAdapters
import AccessTokenSynchronization
public import Foundation

/// A clock that stands still until a test moves it: no test sleeps.
///
/// The clock begins at a fixed day. A test's loader takes its time from the same clock: an expiration that is an hour
/// after `Date.now` is not an hour after ``now``. Where a loader goes by the time of the system, write
/// `ManualClock(now: .now)`.
///
/// **Concurrency** Timers fire inside ``advance(by:)``, on the thread that calls it, in the order of their times.
public final class ManualClock: AccessTokenClock {
    private typealias PendingTimer = (id: Int, due: TimeInterval, action: @Sendable () -> Void)

    private struct State {
        var now: Date
        var elapsed: TimeInterval = 0
        var lastID = 0
        var timers: [PendingTimer] = []
    }

    private let state: Locked<State>

    /// Creates a clock that shows `now`, by default January 15, 2027.
    public init(now: Date = Date(timeIntervalSince1970: 1_800_000_000)) {
        state = Locked(State(now: now))
    }

    /// The time that the clock was set to.
    public var now: Date { state.withLock { $0.now } }

    /// How many seconds have passed since the clock was made.
    var elapsed: TimeInterval { state.withLock { $0.elapsed } }

    /// How many timers are waiting to fire.
    public var pendingTimers: Int { state.withLock { $0.timers.count } }

    /// Registers a timer; it fires in the ``advance(by:)`` that reaches it.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let id = state.withLock { state in
            state.lastID += 1
            state.timers.append((state.lastID, state.elapsed + delay, action))
            return state.lastID
        }
        return AccessTokenTimer { [self] in
            // The action leaves the lock before it is released: what it holds may call back on its way out.
            _ = state.withLock { state in
                state.timers.firstIndex { $0.id == id }.map { state.timers.remove(at: $0) }
            }
        }
    }

    /// Lets `seconds` pass: moves the wall clock, and fires every timer that becomes due on the way.
    ///
    /// It never goes backwards, which is what ``setWallClock(to:)`` is for; also not if a timer or another thread moves
    /// the clock further meanwhile.
    public func advance(by seconds: TimeInterval) {
        let target = state.withLock { $0.elapsed + seconds }
        while let timer = nextTimer(until: target) { timer.action() }
        state.withLock { state in
            let rest = max(0, target - state.elapsed)
            state.now += rest
            state.elapsed += rest
        }
    }

    /// Sets the wall clock, as a user or a time server does; no time passes, and no timer fires.
    public func setWallClock(to date: Date) {
        state.withLock { $0.now = date }
    }

    private func nextTimer(until target: TimeInterval) -> PendingTimer? {
        state.withLock { state in
            let due = state.timers.filter { $0.due <= target }
            guard let next = due.min(by: { ($0.due, $0.id) < ($1.due, $1.id) }) else { return nil }
            state.timers.removeAll { $0.id == next.id }
            let step = max(0, next.due - state.elapsed)
            state.now += step
            state.elapsed += step
            return next
        }
    }
}
