/// The waiters of one flight, in the order in which they came (clause D2).
///
/// A waiter's ticket is its number over the life of the service, so that a ticket of an earlier flight can never
/// take a waiter of this one. Taking one out leaves its slot empty: no search, and the others keep theirs.
@usableFromInline
package struct WaiterSlots<Waiter> {
    @usableFromInline
    var firstTicket: Int
    @usableFromInline
    var slots: [Waiter?] = []

    /// How many have not been taken out.
    @usableFromInline
    package internal(set) var count = 0

    @inlinable
    package init(firstTicket: Int = 1) {
        self.firstTicket = firstTicket
    }

    @inlinable
    package mutating func append(_ waiter: Waiter) -> Int {
        slots.append(waiter)
        count += 1
        return firstTicket + slots.count - 1
    }

    @inlinable
    package mutating func take(_ ticket: Int) -> Waiter? {
        let index = ticket - firstTicket
        guard slots.indices.contains(index), let waiter = slots[index].take() else { return nil }
        count -= 1
        return waiter
    }

    /// Takes all of them out; later tickets go on where these ended.
    @inlinable
    package mutating func takeAll() -> WaiterSlots {
        let taken = self
        self = WaiterSlots(firstTicket: firstTicket + slots.count)
        return taken
    }

    @inlinable
    package consuming func forEach(_ body: (Waiter) -> Void) {
        for case let waiter? in slots { body(waiter) }
    }
}

extension WaiterSlots: Sendable where Waiter: Sendable {}
