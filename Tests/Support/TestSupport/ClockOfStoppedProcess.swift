package import AccessTokenSynchronization
package import Foundation

/// The clock of a process that was stopped: all timers that were set before fire as soon as the process goes on.
package final class ClockOfStoppedProcess: AccessTokenClock {
    package let now: Date
    private let timers = Locked<[@Sendable () -> Void]>([])

    package init(now: Date) { self.now = now }

    /// How many timers have not fired.
    package var pendingTimers: Int { timers.withLock { $0.count } }

    package func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> AccessTokenTimer {
        timers.withLock { $0.append(action) }
        return AccessTokenTimer {}
    }

    package func goOn() {
        for action in timers.withLock({ exchange(&$0, with: []) }) { action() }
    }
}
