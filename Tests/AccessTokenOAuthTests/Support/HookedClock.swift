import Foundation

@testable import AccessTokenOAuth

/// A clock that runs something once, at the next look at it.
final class HookedClock: AccessTokenClock {
    private let base = ManualClock()
    private let hook = Locked<(@Sendable () -> Void)?>(nil)

    var now: Date {
        hook.withLock { $0.take() }?()
        return base.now
    }

    var pendingTimers: Int { base.pendingTimers }

    func atNextLook(_ action: @escaping @Sendable () -> Void) { hook.withLock { $0 = action } }
    func advance(by seconds: TimeInterval) { base.advance(by: seconds) }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        base.schedule(after: delay, action)
    }
}
