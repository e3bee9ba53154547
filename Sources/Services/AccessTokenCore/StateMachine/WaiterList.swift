/// Names one waiter of one service, for its cancellation; never used for another waiter.
@frozen @usableFromInline
package struct WaiterID: Equatable, Sendable {
    @usableFromInline
    package let number: Int

    @inlinable
    package init(number: Int) {
        self.number = number
    }
}

/// The waiters of a service, in the order in which they came (clause D2).
///
/// A waiter leaves the list once, and is answered by the code that takes it out: never twice, and never not (D1). Memory
/// follows the waiters that are there: taking one out leaves a gap, and the gaps are closed when they are more than half of
/// the list.
@frozen @usableFromInline
package struct WaiterList<Waiter> {
    /// Sorted by number; a waiter that has left is `nil`.
    @usableFromInline
    var entries: [(number: Int, waiter: Waiter?)] = []

    @usableFromInline
    var lastNumber = 0

    /// How many wait.
    @usableFromInline
    package internal(set) var count = 0

    @inlinable
    package init() {}

    /// Names the next waiter, before it is there.
    @inlinable
    package var nextID: WaiterID { WaiterID(number: lastNumber + 1) }

    @inlinable
    package mutating func append(_ waiter: Waiter) -> WaiterID {
        lastNumber += 1
        entries.append((lastNumber, waiter))
        count += 1
        return WaiterID(number: lastNumber)
    }

    /// Takes one out, unless it has left already.
    @inlinable
    package mutating func take(_ id: WaiterID) -> Waiter? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < id.number { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].number == id.number, let waiter = entries[low].waiter.take() else {
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
