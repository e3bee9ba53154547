import Dispatch
public import Foundation

/// The system's wall clock, with timers on a thread of their own.
///
/// Timers stand still while the device sleeps, as the load does whose deadline they are. They need no thread of Dispatch and
/// none of the pool that runs tasks: loaders that block all of those threads do not hold up a deadline.
public struct SystemClock: AccessTokenClock {
    /// Creates the clock; all of them are alike.
    public init() {}

    /// The wall-clock time, on Linux to some milliseconds.
    public var now: Date { systemNow() }

    /// Calls `action` on a thread that all timers share: it has to return at once.
    ///
    /// A delay that is negative or not a number counts as 0, and the longest one is a century.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        TimerThread.shared.schedule(after: delay > 0 ? min(delay, AccessTokenPolicy.longest) : 0, action)
    }
}

/// Fires the timers of all system clocks, the earliest first.
private final class TimerThread: Sendable {
    static let shared = TimerThread()

    private struct Timer: Sendable {
        let number: UInt64
        let deadline: DispatchTime
        let action: @Sendable () -> Void
    }

    private struct State: Sendable {
        /// Those of one deadline in the order in which they were scheduled.
        var timers: [Timer] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())
    /// Signalled when the earliest timer is another one.
    private let earliestChanged = DispatchSemaphore(value: 0)

    private init() {
        Thread.detachNewThread { [self] in
            while true { fireNext() }
        }
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let deadline = DispatchTime.now() + delay
        let (number, isEarliest) = state.withLock { state in
            state.lastNumber += 1
            let timer = Timer(number: state.lastNumber, deadline: deadline, action: action)
            // Nearly all have the same delay: a new timer is usually the last one.
            let index = state.timers.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
            state.timers.insert(timer, at: index)
            return (timer.number, index == 0)
        }
        if isEarliest { earliestChanged.signal() }
        return AccessTokenTimer { [self] in cancel(number) }
    }

    private func cancel(_ number: UInt64) {
        // Released outside of the lock, since the last reference to a service may go with it.
        _ = state.withLock { state in
            state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
        }
    }

    private func fireNext() {
        let earliest = state.withLock { $0.timers.first?.deadline } ?? .distantFuture
        guard earliestChanged.wait(timeout: earliest) == .timedOut else { return }
        let due = state.withLock { state -> Timer? in
            guard let first = state.timers.first, first.deadline <= .now() else { return nil }
            return state.timers.removeFirst()
        }
        due?.action()
    }
}
