package import Dispatch

/// Values with deadlines, of which the earliest is found at once: a binary heap.
///
/// Adding and removing cost the logarithm of the number of values. Removing takes the value out at once and leaves its
/// place in the heap, since finding that would cost a look at all places. An empty place goes when it comes to the top,
/// and all of them go when they are more than half of the heap.
package struct TimerHeap<Value> {
    /// Names one value of one heap; never used for another value.
    package typealias ID = UInt64

    struct Place: Comparable {
        let deadline: DispatchTime
        let id: ID

        /// Of one deadline, the value that was added first comes first.
        static func < (one: Place, other: Place) -> Bool { (one.deadline, one.id) < (other.deadline, other.id) }
    }

    /// No place comes before that at half its index; the top one is not empty.
    private(set) var places: [Place] = []
    private var values: [ID: Value] = [:]
    private var lastID: ID = 0

    package init() {}

    /// The deadline that comes first.
    package var earliest: DispatchTime? { places.first?.deadline }

    /// Adds a value behind those of the same deadline.
    package mutating func add(_ value: Value, at deadline: DispatchTime) -> ID {
        lastID += 1
        values[lastID] = value
        places.append(Place(deadline: deadline, id: lastID))
        moveUp(from: places.count - 1)
        return lastID
    }

    /// Takes a value out, unless it has left already.
    package mutating func remove(_ id: ID) -> Value? {
        guard let value = values.removeValue(forKey: id) else { return nil }
        // Costs as much as the values that were removed since the last time: removing stays cheap.
        if places.count > 2 * values.count + 32 {
            places = places.filter { values[$0.id] != nil }.sorted()
        }
        dropEmptyTop()
        return value
    }

    /// Takes the first value out, if its deadline has come.
    package mutating func removeFirst(dueAt now: DispatchTime) -> Value? {
        guard let first = places.first, first.deadline <= now else { return nil }
        return remove(first.id)
    }

    private mutating func dropEmptyTop() {
        while let top = places.first, values[top.id] == nil {
            places.swapAt(0, places.count - 1)
            places.removeLast()
            moveDown(from: 0)
        }
    }

    private mutating func moveUp(from start: Int) {
        var index = start
        while index > 0, places[index] < places[(index - 1) / 2] {
            places.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func moveDown(from start: Int) {
        var index = start
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            guard left < places.count else { return }
            let child = right < places.count && places[right] < places[left] ? right : left
            guard places[child] < places[index] else { return }
            places.swapAt(index, child)
            index = child
        }
    }
}

extension TimerHeap: Sendable where Value: Sendable {}
