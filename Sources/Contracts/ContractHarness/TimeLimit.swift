import AccessTokenSynchronization
import Dispatch
import Foundation

/// How long a subject may take for one step, counted in ticks that all waits share.
///
/// A tick takes 10 ms, and longer while the machine is so busy that the thread pools do not answer: what a busy machine
/// does not run is no fault of the subject. A pool that the subject itself has blocked ends a tick after 300 ms.
package enum TimeLimit {
    private static let queue = DispatchQueue(label: "AccessTokenContract.time")
    /// The logs with waits that have not ended; ticks are counted while there are some.
    private static let logs = Locked<[RunLog]>([])
    /// Some 300 years, which fit into an integer.
    private static let mostTicks = 1e12

    /// So many seconds in ticks; the present tick may be over at once.
    static func ticks(_ seconds: TimeInterval) -> Int { 1 + Int(min(max(1, (seconds / 0.01).rounded()), mostTicks)) }

    /// Counts ticks for a log until nobody waits there.
    static func count(for log: RunLog) {
        let isFirst = logs.withLock { logs in
            logs.append(log)
            return logs.count == 1
        }
        if isFirst { tick() }
    }

    /// Returns after at least so many milliseconds.
    package static func pause(milliseconds: Int) async {
        await withCheckedContinuation { continuation in after(milliseconds: milliseconds) { continuation.resume() } }
    }

    private static func after(milliseconds: Int, _ end: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds), execute: end)
    }

    private static func tick() {
        after(milliseconds: 10) {
            let next = OneShot(abandoned: ()) { endTick() }
            // Each priority may have threads of its own.
            Task.detached(priority: .medium) {
                Task.detached(priority: .low) { next(()) }
            }
            after(milliseconds: 290) { next(()) }
        }
    }

    private static func endTick() {
        let present = logs.withLock { $0 }
        // Outside of the lock: conditions run code of others.
        let waiting = present.filter { $0.countTick() }
        let goesOn = logs.withLock { logs in
            // New logs stand behind those that were looked at.
            logs = waiting + logs.dropFirst(present.count)
            return !logs.isEmpty
        }
        if goesOn { tick() }
    }
}
