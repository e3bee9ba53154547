/// The waiters of one kind, in the order in which they came (clause D2).
///
/// A waiter leaves the list once, and is answered by the code that takes it out: never twice, and never not (D1).
/// Memory follows the waiters that are there: taking one out leaves a gap, and the gaps are closed when they are more
/// than half of the list.
package struct WaiterList<Element: Sendable>: Sendable {
    /// Sorted by ID; a waiter that has left is `nil`.
    private(set) var entries: [(id: Waiter.ID, waiter: Element?)] = []

    /// How many wait.
    package private(set) var count = 0

    package init() {}

    /// Adds a waiter whose ID is greater than those of the waiters before it.
    package mutating func append(_ waiter: Element, as id: Waiter.ID) {
        assert(entries.last.map { $0.id < id } ?? true)
        entries.append((id, waiter))
        count += 1
    }

    /// Takes one out, unless it has left already.
    package mutating func take(_ id: Waiter.ID) -> Element? {
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
    package mutating func takeAll() -> WaiterList {
        let taken = self
        self = WaiterList()
        return taken
    }

    package func forEach(_ body: (Element) -> Void) {
        for case let waiter? in entries.lazy.map(\.waiter) { body(waiter) }
    }
}
