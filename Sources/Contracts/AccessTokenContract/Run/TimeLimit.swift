import AccessTokenAdapters
import Dispatch

/// How long a subject may take for one step, counted in ticks.
///
/// A tick takes 10 ms, and longer while the machine is so busy that the thread pools do not answer: what a busy machine
/// does not run is no fault of the subject. A pool that the subject itself has blocked ends a tick after 300 ms.
package enum TimeLimit {
    private static let queue = DispatchQueue(label: "AccessTokenContract.time")
    /// Some 300 years, which fit into an integer; a `Duration` need not.
    private static let mostTicks = 1e12

    /// Calls `end` after `limit`, unless it is no longer needed.
    static func start(
        _ limit: Duration,
        whileNeeded isNeeded: @escaping @Sendable () -> Bool,
        then end: @escaping @Sendable () -> Void
    ) {
        count(Int(min(max(1, limit / .milliseconds(10)), mostTicks)), isNeeded, end)
    }

    /// Calls `end` after at least so many milliseconds.
    package static func after(milliseconds: Int, _ end: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: end)
    }

    private static func count(
        _ ticks: Int,
        _ isNeeded: @escaping @Sendable () -> Bool,
        _ end: @escaping @Sendable () -> Void
    ) {
        guard ticks > 0 else { return end() }
        after(milliseconds: 10) {
            guard isNeeded() else { return }
            let next = OneShot(abandoned: ()) { count(ticks - 1, isNeeded, end) }
            // Each priority may have threads of its own.
            Task.detached(priority: .medium) {
                Task.detached(priority: .low) { next(()) }
            }
            after(milliseconds: 290) { next(()) }
        }
    }
}
