import AccessTokenOAuth
import Foundation

/// A clock whose timers are due at once.
struct InstantClock: AccessTokenClock {
    let now = Date(timeIntervalSince1970: 1_800_000_000)

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        Task { action() }
        return AccessTokenTimer {}
    }
}
