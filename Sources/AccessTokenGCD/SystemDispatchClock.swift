public import AccessTokenCore
import Dispatch
public import Foundation

/// The system's wall clock, with timers by Dispatch.
///
/// Timers stand still while the device sleeps, as the load does whose deadline they are.
public struct SystemDispatchClock: AccessTokenClock {
    /// Creates the clock; all of them are alike.
    public init() {}

    /// The wall-clock time, on Linux to some milliseconds.
    public var now: Date { systemNow() }

    /// Calls `action` on a global queue.
    public func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        let timer = SourceTimer()
        timer.source.setEventHandler {
            timer.source.cancel()
            action()
        }
        timer.source.schedule(deadline: .now() + delay)
        timer.source.activate()
        return AccessTokenTimer { timer.source.cancel() }
    }
}

// Safe: a dispatch source may be cancelled from any thread; only its protocol does not say so.
private final class SourceTimer: @unchecked Sendable {
    let source = DispatchSource.makeTimerSource()
}
