import AccessTokenSynchronization
import Dispatch

/// Runs deliveries of events, one after the other.
package typealias EventQueue = @Sendable (_ delivery: @escaping @Sendable () -> Void) -> Void

/// Where the events of all services of a process are delivered: on one thread of its own.
///
/// Event handlers that block, as a log does on a pipe that nobody reads, would take all threads of Dispatch and of
/// tasks, and no load would begin. Here they keep events from one another, and nothing else.
package enum EventThread {
    private static let thread = TimerThread()

    package static let queue: EventQueue = { thread.schedule(at: .now(), $0) }
}

/// Delivers the events of one service in order, a batch at a time, so that other services have their turn between two.
///
/// It is bounded: a slow event handler costs events and not memory.
package final class EventDelivery: Sendable {
    /// How many events may wait.
    package static let capacity = 1_000

    private struct Backlog: Sendable {
        var events: [AccessTokenEvent] = []
        var lost = 0
        var isBeingDelivered = false
    }

    private let backlog = Locked(Backlog())
    private let queue: EventQueue
    private let handler: @Sendable (AccessTokenEvent) -> Void

    /// - Parameter queue: where the handler is called.
    package init(
        on queue: @escaping EventQueue = EventThread.queue,
        to handler: @escaping @Sendable (AccessTokenEvent) -> Void
    ) {
        self.queue = queue
        self.handler = handler
    }

    /// Adds events behind those that wait, and calls no handler before it returns.
    package func deliver(_ events: [AccessTokenEvent]) {
        guard !events.isEmpty else { return }
        let startsDelivery = backlog.withLock { backlog in
            let kept = events.prefix(Self.capacity - backlog.events.count)
            backlog.events += kept
            backlog.lost += events.count - kept.count
            defer { backlog.isBeingDelivered = true }
            return !backlog.isBeingDelivered
        }
        if startsDelivery { queue { self.deliverBatches() } }
    }

    private func deliverBatches() {
        let batch = backlog.withLock { backlog -> [AccessTokenEvent] in
            defer { backlog = Backlog(isBeingDelivered: !backlog.events.isEmpty) }
            return backlog.lost == 0 ? backlog.events : backlog.events + [.init(.eventsLost, count: backlog.lost)]
        }
        guard !batch.isEmpty else { return }
        batch.forEach(handler)
        queue { self.deliverBatches() }
    }
}
