import Dispatch
import TestSupport
import Testing

@testable import AccessTokenSynchronization

@Suite("The timers of a thread", .takesTurns)
struct TimerHeapTests {
    @Test(arguments: 0..<100)
    func `come in the order of a sorted array, whatever was added, removed or due meanwhile`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap<Int>()
        var model: [(deadline: UInt64, id: TimerHeap<Int>.ID, value: Int)] = []
        // Few deadlines, so that many values have the same one.
        let deadlines = UInt64.random(in: 1...500, using: &random)
        // A crowd comes before many leave, and once more.
        for value in 0..<2_000 {
            let grows = value / 500 % 2 == 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<(grows ? 7 : 1):
                let deadline = UInt64.random(in: 1...deadlines, using: &random)
                let id = heap.add(value, at: DispatchTime(uptimeNanoseconds: deadline))
                let index = model.firstIndex { $0.deadline > deadline } ?? model.endIndex
                model.insert((deadline, id, value), at: index)
            case 7:
                let now = UInt64.random(in: 1...deadlines, using: &random)
                let due = model.first.map { $0.deadline <= now } ?? false
                #expect(heap.removeFirst(dueAt: DispatchTime(uptimeNanoseconds: now)) == (due ? model[0].value : nil))
                if due { model.removeFirst() }
            default:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                let leaving = model.remove(at: index)
                #expect(heap.remove(leaving.id) == leaving.value)
                #expect(heap.remove(leaving.id) == nil)
            }
            #expect(heap.earliest?.uptimeNanoseconds == model.first?.deadline)
        }
        for left in model { #expect(heap.removeFirst(dueAt: .distantFuture) == left.value) }
        #expect(heap.removeFirst(dueAt: .distantFuture) == nil)
    }

    @Test(arguments: [0, 1, 100])
    func `take up memory for those who are there, however many have come and gone`(staying: Int) {
        var heap = TimerHeap<Int>()
        for number in 0..<staying { _ = heap.add(number, at: DispatchTime(uptimeNanoseconds: 1)) }
        var most = 0
        for number in 0..<10_000 {
            let id = heap.add(number, at: DispatchTime(uptimeNanoseconds: UInt64(2 + number)))
            #expect(heap.remove(id) == number)
            most = max(most, heap.places.count)
        }
        #expect(most <= 2 * staying + 34)
    }
}
