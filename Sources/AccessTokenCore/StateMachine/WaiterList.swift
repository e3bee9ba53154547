/// Names one waiter of one service, for its cancellation; never used for another waiter.
@frozen @usableFromInline
package struct WaiterID: Hashable, Sendable {
    @usableFromInline
    package let number: Int

    @inlinable
    package init(number: Int) {
        self.number = number
    }
}

/// The waiters of a service, in the order in which they came (clause D2).
///
/// The shell owns the list and hands it to the state machine; only the core can add a waiter or take one out, so that
/// nobody is answered twice or forgotten (D1). Memory follows the waiters that are there: taking one out leaves a gap, and
/// the gaps are closed when they are more than half of the list.
@frozen @usableFromInline
package struct WaiterList<Waiter> {
    @frozen @usableFromInline
    struct Entry {
        @usableFromInline
        let id: WaiterID
        @usableFromInline
        var waiter: Waiter?

        @inlinable
        init(id: WaiterID, waiter: Waiter) {
            self.id = id
            self.waiter = waiter
        }
    }

    /// Waiters whose neighbours have left; sorted, and older than all in `recent`.
    @usableFromInline
    var older: [Entry] = []

    /// Waiters whose numbers follow one another, which so need not be kept.
    @usableFromInline
    var recent: [Waiter?] = []

    /// The number of the first one in `recent`.
    @usableFromInline
    var firstRecent = 1

    /// How many wait.
    @usableFromInline
    package internal(set) var count = 0

    @inlinable
    package init() {}

    @inlinable
    mutating func append(_ waiter: Waiter) -> WaiterID {
        recent.append(waiter)
        count += 1
        return WaiterID(number: firstRecent + recent.count - 1)
    }

    @inlinable
    mutating func take(_ id: WaiterID) -> Waiter? {
        guard let waiter = remove(id) else { return nil }
        count -= 1
        if recent.count + older.count > 2 * count + 32 { closeGaps() }
        return waiter
    }

    /// Takes all of them out.
    @inlinable
    mutating func takeAll() -> WaiterList {
        let taken = self
        firstRecent += recent.count
        older = []
        recent = []
        count = 0
        return taken
    }

    @inlinable
    package consuming func forEach(_ body: (Waiter) -> Void) {
        for case let waiter? in older.lazy.map(\.waiter) { body(waiter) }
        for case let waiter? in recent { body(waiter) }
    }

    @inlinable
    mutating func remove(_ id: WaiterID) -> Waiter? {
        let index = id.number - firstRecent
        guard index < 0 else { return recent.indices.contains(index) ? recent[index].take() : nil }
        return removeOlder(id)
    }

    @inlinable
    mutating func removeOlder(_ id: WaiterID) -> Waiter? {
        var (low, high) = (0, older.count)
        while low < high {
            let middle = (low + high) / 2
            if older[middle].id.number < id.number { low = middle + 1 } else { high = middle }
        }
        guard low < older.count, older[low].id == id else { return nil }
        return older[low].waiter.take()
    }

    /// Costs as much as the waiters that have left since the last time, so that leaving stays cheap.
    @inlinable
    mutating func closeGaps() {
        older.removeAll { $0.waiter == nil }
        for (index, waiter) in recent.enumerated() {
            guard let waiter else { continue }
            older.append(Entry(id: WaiterID(number: firstRecent + index), waiter: waiter))
        }
        firstRecent += recent.count
        recent = []
    }
}

extension WaiterList: Sendable where Waiter: Sendable {}
extension WaiterList.Entry: Sendable where Waiter: Sendable {}
