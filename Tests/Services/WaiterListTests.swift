import TestSupport
import Testing

@testable import AccessTokenCore

@Suite("The waiters of a service", .takesTurns)
struct WaiterListTests {
    @Test(arguments: [0, 1, 100])
    func `take up memory for those who are there, however many have come and gone`(staying: Int) {
        var list = WaiterList<Int>()
        for number in 0..<staying { list.append(number, as: number) }
        var most = 0
        for number in staying..<staying + 10_000 {
            list.append(number, as: number)
            #expect(list.take(number) == number)
            most = max(most, list.entries.count)
        }
        #expect(most <= 2 * staying + 34)
        var rest: [Int] = []
        list.forEach { rest.append($0) }
        #expect(rest == Array(0..<staying))
        for number in (0..<staying).reversed() { #expect(list.take(number) == number) }
        #expect(list.count == 0)
    }

    @Test func `answer to their numbers as a dictionary would, in any order of coming and going`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var list = WaiterList<Int>()
            var model: [(id: Waiter.ID, waiter: Int)] = []
            for waiter in 0..<300 {
                // Some IDs are never used: those of callers that were answered at once.
                let id = 2 * waiter
                switch Int.random(in: 0..<20, using: &random) {
                case 0:
                    var taken: [Int] = []
                    list.takeAll().forEach { taken.append($0) }
                    #expect(taken == model.map(\.waiter))
                    model = []
                case 1...9:
                    guard let index = model.indices.randomElement(using: &random) else { continue }
                    let leaving = model.remove(at: index)
                    #expect(list.take(leaving.id) == leaving.waiter)
                    #expect(list.take(leaving.id) == nil)
                default:
                    list.append(waiter, as: id)
                    model.append((id, waiter))
                }
                #expect(list.count == model.count)
            }
        }
    }
}
