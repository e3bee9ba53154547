import Foundation

/// Runs deliveries of events, one after the other.
package typealias EventQueue = @Sendable (_ delivery: @escaping @Sendable () -> Void) -> Void

/// Where the events of all services of a process are delivered: on one thread of its own.
///
/// The threads of tasks and of Dispatch are counted, and on Linux they are the same ones. Event handlers that block, as a
/// log does on a pipe without a reader, would take them all, and no load would begin. Here they keep events from one
/// another, and nothing else.
package enum EventThread {
    private static let deliveries = Deliveries()

    package static let queue: EventQueue = { deliveries.append($0) }

    private final class Deliveries: Sendable {
        private let condition = NSCondition()
        // Safe: only touched while the condition is locked.
        private nonisolated(unsafe) var pending: [@Sendable () -> Void] = []

        init() {
            Thread.detachNewThread { [self] in
                while true { next()() }
            }
        }

        func append(_ delivery: @escaping @Sendable () -> Void) {
            condition.withLock { unsafe pending.append(delivery) }
            condition.signal()
        }

        private func next() -> @Sendable () -> Void {
            condition.withLock {
                while unsafe pending.isEmpty { condition.wait() }
                return unsafe pending.removeFirst()
            }
        }
    }
}
