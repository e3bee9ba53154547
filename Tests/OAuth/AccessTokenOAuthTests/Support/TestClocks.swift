import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// A clock whose timers are due at once.
struct InstantClock: AccessTokenClock {
    let now = Date(timeIntervalSince1970: 1_800_000_000)

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        Task { action() }
        return AccessTokenTimer {}
    }
}

/// A clock whose timers are due when a test says so.
final class HeldClock: AccessTokenClock {
    let hasScheduled = Event()
    private let released = Event()

    var now: Date { .now }

    func release() { released.happen() }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        hasScheduled.happen()
        Task { [released] in
            await released.wait()
            action()
        }
        return AccessTokenTimer {}
    }
}
