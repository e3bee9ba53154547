import AccessTokenAsync
import AccessTokenContract
import Foundation

/// Tells when it is read.
struct WatchedClock: AccessTokenClock {
    let base: ManualClock
    let onRead: @Sendable () -> Void

    var now: Date {
        onRead()
        return base.now
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        base.schedule(after: delay, action)
    }
}
