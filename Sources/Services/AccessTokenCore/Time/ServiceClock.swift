public import Foundation

/// A service's clock, which every retrieval reads: it spares the system's time the way through the protocol.
@usableFromInline
package struct ServiceClock: Sendable {
    @usableFromInline
    package let base: any AccessTokenClock
    @usableFromInline
    package let isSystem: Bool

    package init(_ base: any AccessTokenClock) {
        self.base = base
        isSystem = base is SystemClock
    }

    @inlinable package var now: Date {
        isSystem ? systemNow() : base.now
    }

    package func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        base.schedule(after: delay, action)
    }
}
