public import AccessTokenCore
public import Foundation

/// The system's wall clock, with timers that are sleeping tasks.
///
/// Timers stand still while the device sleeps, as the load does whose deadline they are. A timer that was cancelled keeps
/// about a kilobyte until it would have fired, since the runtime keeps the sleep of a cancelled task for so long.
///
/// A timer needs a thread of the pool that runs tasks. Loaders or other code that block all of these threads hold up the
/// deadlines of loads, as they hold up every task. `SystemDispatchClock` of `AccessTokenGCD` does not need the pool: pass
/// it as the service's clock where callback code has to be answered in time beside such code.
public struct SystemTaskClock: AccessTokenClock {
    /// Creates the clock; all of them are alike.
    public init() {}

    /// The wall-clock time, on Linux to some milliseconds.
    public var now: Date { systemNow() }

    /// Calls `action` in a task of its own.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        // A Duration traps on what it can't hold; nobody waits longer than a century.
        let delay = min(max(0, delay), 3_155_760_000)
        let timer = Task.detached {
            // Sleeping ends early only by cancellation, which is the end of the timer as well.
            let clock = SuspendingClock()
            guard (try? await clock.sleep(until: clock.now + .seconds(delay))) != nil else { return }
            action()
        }
        return AccessTokenTimer { timer.cancel() }
    }
}
