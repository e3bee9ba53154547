import AccessTokenOAuth
import Foundation

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
