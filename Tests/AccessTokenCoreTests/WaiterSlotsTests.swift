import AccessTokenCore
import Testing

@Suite("The waiters of a flight")
struct WaiterSlotsTests {
    private func contents(_ slots: WaiterSlots<String>) -> [String] {
        var contents: [String] = []
        slots.forEach { contents.append($0) }
        return contents
    }

    @Test("keep the order in which they came, and get numbers one after the other")
    func order() {
        var slots = WaiterSlots<String>()
        #expect([slots.append("a"), slots.append("b"), slots.append("c")] == [1, 2, 3])
        #expect(slots.count == 3)
        #expect(contents(slots) == ["a", "b", "c"])
    }

    @Test("lose only the one whose ticket is taken, and only once")
    func take() {
        var slots = WaiterSlots<String>()
        for waiter in ["a", "b", "c"] { _ = slots.append(waiter) }
        #expect(slots.take(2) == "b")
        #expect(slots.take(2) == nil)
        #expect(slots.count == 2)
        #expect(contents(slots) == ["a", "c"])
        #expect(slots.append("d") == 4)
        #expect(slots.take(3) == "c")
    }

    @Test("have no place for a ticket that nobody was given", arguments: [0, -1, 4, Int.max, -Int.max])
    func unknownTicket(ticket: Int) {
        var slots = WaiterSlots<String>()
        for waiter in ["a", "b", "c"] { _ = slots.append(waiter) }
        #expect(slots.take(ticket) == nil)
        #expect(slots.count == 3)
    }

    @Test("are all taken at once, and no ticket of theirs takes one who comes later")
    func takeAll() {
        var slots = WaiterSlots<String>()
        for waiter in ["a", "b", "c"] { _ = slots.append(waiter) }
        _ = slots.take(1)
        #expect(contents(slots.takeAll()) == ["b", "c"])
        #expect(slots.count == 0)
        #expect(contents(slots) == [])
        #expect(slots.append("d") == 4)
        for ticket in 1...3 { #expect(slots.take(ticket) == nil) }
        #expect(slots.take(4) == "d")
    }

    @Test("can be ten thousand, of whom every third leaves")
    func tenThousand() {
        var slots = WaiterSlots<Int>()
        let tickets = (0..<10_000).map { slots.append($0) }
        for number in stride(from: 0, to: 10_000, by: 3) { #expect(slots.take(tickets[number]) == number) }
        #expect(slots.count == 6666)
        var rest: [Int] = []
        slots.takeAll().forEach { rest.append($0) }
        #expect(rest == (0..<10_000).filter { !$0.isMultiple(of: 3) })
    }

    @Test("let go of one who leaves at once")
    func releasesTaken() {
        final class Caller {}
        var slots = WaiterSlots<Caller>()
        var caller: Caller? = Caller()
        let witness = WeakReference(object: caller)
        let ticket = caller.map { slots.append($0) } ?? 0
        caller = nil
        #expect(witness.object != nil)
        _ = slots.take(ticket)
        #expect(witness.object == nil)
    }
}
