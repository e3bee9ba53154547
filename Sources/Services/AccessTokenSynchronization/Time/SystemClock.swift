public import AccessTokenFoundation
import Dispatch

/// The system's wall clock, with timers on a thread of their own.
///
/// Timers stand still while the device sleeps, as the load does whose deadline they are. Loaders that block all threads
/// of Dispatch and of tasks do not hold up a deadline.
public struct SystemClock: AccessTokenClock {
    private static let timers = TimerThread()

    /// Creates the clock; all of them are alike.
    public init() {}

    /// The wall-clock time, on Linux to some milliseconds.
    public var now: Date { systemNow() }

    /// Calls `action` on a thread that all timers share: it has to return at once.
    ///
    /// A delay that is negative or not a number counts as 0, and the longest one is a century.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let delay = delay > 0 ? min(delay, .century) : 0
        return Self.timers.schedule(at: .now() + delay, action)
    }
}

/// A service's clock, which every retrieval reads: it spares the system's time the way through the protocol.
///
/// It counts each delay in two halves. A process that was stopped, as an app in the background is, has its timers fire
/// before it reads what has come meanwhile. A stop in the first half costs the rest of that half, and an answer is read
/// in the second one.
@usableFromInline
package struct ServiceClock: AccessTokenClock {
    @usableFromInline package let base: any AccessTokenClock
    @usableFromInline package let isSystem: Bool

    package init(_ base: any AccessTokenClock) {
        self.base = base
        isSystem = base is SystemClock
    }

    @inlinable package var now: Date { isSystem ? systemNow() : base.now }

    /// Sets no timer for no delay.
    package func schedule(after delay: TimeInterval?, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        guard let delay else { return AccessTokenTimer {} }
        return schedule(after: delay, action)
    }

    @usableFromInline
    package func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let cancelled = Latch()
        let first = base.schedule(after: delay / 2) { [base] in
            let second = base.schedule(after: delay / 2, action)
            cancelled.whenFired { second.cancel() }
        }
        cancelled.whenFired { first.cancel() }
        return AccessTokenTimer { cancelled.fire() }
    }
}
