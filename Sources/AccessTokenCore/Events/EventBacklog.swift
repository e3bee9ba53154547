/// Events that happened and were not delivered yet: bounded, so that a slow event handler costs events and not memory.
package struct EventBacklog: Sendable {
    /// How many events may wait.
    package static let capacity = 1_000

    private var events: [AccessTokenEvent] = []
    private var lost = 0
    private var isBeingDelivered = false

    package init() {}

    // Some twenty places report an event: each would have a copy of it.
    @inline(never)
    mutating func append(_ event: AccessTokenEvent) {
        guard events.count < Self.capacity else {
            lost += 1
            return
        }
        events.append(event)
    }

    /// Says whether there is something to deliver and nobody who does; then the caller has to.
    package mutating func startsDelivery() -> Bool {
        guard !isBeingDelivered, !events.isEmpty else { return false }
        isBeingDelivered = true
        return true
    }

    /// The events to be delivered next, the oldest first; `nil` ends the delivery.
    package mutating func next() -> [AccessTokenEvent]? {
        guard !events.isEmpty else {
            isBeingDelivered = false
            return nil
        }
        defer {
            events = []
            lost = 0
        }
        return lost == 0 ? events : events + [.eventsLost(count: lost)]
    }
}
