import AccessTokenAdapters
import Dispatch
import Foundation

/// How long a subject may take for one step, counted in ticks that all waits share.
///
/// A tick takes 10 ms, and longer while the machine is so busy that the thread pools do not answer: what a busy machine
/// does not run is no fault of the subject. A pool that the subject itself has blocked ends a tick after 300 ms.
package enum TimeLimit {
    private struct Limit {
        var ticks: Int
        let isNeeded: @Sendable () -> Bool
        let end: @Sendable () -> Void
    }

    private static let queue = DispatchQueue(label: "AccessTokenContract.time")
    /// The limits that have not ended; ticks are counted while there are some.
    private static let limits = Locked<[Limit]>([])
    /// Some 300 years, which fit into an integer.
    private static let mostTicks = 1e12

    /// Calls `end` after so many seconds, unless it is no longer needed.
    static func start(
        _ seconds: TimeInterval,
        whileNeeded isNeeded: @escaping @Sendable () -> Bool,
        then end: @escaping @Sendable () -> Void
    ) {
        // The present tick may be over at once.
        let ticks = 1 + Int(min(max(1, (seconds / 0.01).rounded()), mostTicks))
        let isFirst = limits.withLock { limits in
            limits.append(Limit(ticks: ticks, isNeeded: isNeeded, end: end))
            return limits.count == 1
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
        let present = limits.withLock { limits in
            for index in limits.indices { limits[index].ticks -= 1 }
            return limits
        }
        // Outside of the lock: both closures run code of others.
        let isNeeded = present.map { $0.isNeeded() }
        for (limit, isNeeded) in zip(present, isNeeded) where isNeeded && limit.ticks == 0 { limit.end() }
        let goesOn = limits.withLock { limits in
            // New limits stand behind those that were looked at.
            let old = zip(limits, isNeeded).filter { $0.1 && $0.0.ticks > 0 }.map(\.0)
            limits = old + limits.dropFirst(present.count)
            return !limits.isEmpty
        }
        if goesOn { tick() }
    }
}
