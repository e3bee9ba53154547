/// Names one waiter of one service, for its cancellation; never used for another waiter.
@usableFromInline
package typealias WaiterID = Int

/// The waiters of a service, in the order in which they came (clause D2).
///
/// A waiter leaves the list once, and is answered by the code that takes it out: never twice, and never not (D1). Memory
/// follows the waiters that are there: taking one out leaves a gap, and the gaps are closed when they are more than half of
/// the list.
@frozen @usableFromInline
package struct WaiterList<Waiter> {
    /// Sorted by ID; a waiter that has left is `nil`.
    @usableFromInline var entries: [(id: WaiterID, waiter: Waiter?)] = []
    @usableFromInline var lastID = 0

    /// How many wait.
    @usableFromInline package internal(set) var count = 0

    @inlinable
    package init() {}

    /// Names the next waiter, before it is there.
    @inlinable
    package var nextID: WaiterID { lastID + 1 }

    @inlinable
    package mutating func append(_ waiter: Waiter) -> WaiterID {
        lastID += 1
        entries.append((lastID, waiter))
        count += 1
        return lastID
    }

    /// Takes one out, unless it has left already.
    @inlinable
    package mutating func take(_ id: WaiterID) -> Waiter? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].id == id, let waiter = entries[low].waiter.take() else {
            return nil
        }
        count -= 1
        // Costs as much as the waiters that have left since the last time: leaving stays cheap.
        if entries.count > 2 * count + 32 { entries.removeAll { $0.waiter == nil } }
        return waiter
    }

    /// Takes all of them out.
    @inlinable
    package mutating func takeAll() -> WaiterList {
        let taken = self
        entries = []
        count = 0
        return taken
    }

    @inlinable
    package consuming func forEach(_ body: (Waiter) -> Void) {
        for case let waiter? in entries.lazy.map(\.waiter) { body(waiter) }
    }
}

extension WaiterList: Sendable where Waiter: Sendable {}
