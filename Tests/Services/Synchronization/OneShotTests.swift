import AccessTokenSynchronization
import TestSupport
import Testing

@Suite("A callback for one shot", .takesTurns)
struct OneShotTests {
    @Test(arguments: 1...2)
    func `gets the first value only`(shots: Int) {
        let values = Locked<[String]>([])
        let shot = OneShot(abandoned: "abandoned") { value in values.withLock { $0.append(value) } }
        for number in 0..<shots { shot("\(number)") }
        #expect(values.withLock { $0 } == ["0"])
    }

    @Test func `says whether a value was the first`() {
        let shot = OneShot(abandoned: 0) { _ in }
        #expect(shot(1))
        #expect(!shot(2))
    }

    @Test func `gets the stand-in if it is released without a value`() {
        let values = Locked<[String]>([])
        _ = OneShot(abandoned: "abandoned") { value in values.withLock { $0.append(value) } }
        #expect(values.withLock { $0 } == ["abandoned"])
    }

    @Test func `lets go of its callback at the first value, not at its own end`() {
        final class Owner: Sendable {}
        var owner: Owner? = Owner()
        let witness = WeakReference(owner)
        let shot = OneShot<Int>(abandoned: 0) { [owner] _ in _ = owner }
        owner = nil
        #expect(witness.object != nil)
        shot(1)
        #expect(witness.object == nil)
        #expect(!shot(2))
    }

    @Test(arguments: 1...50)
    func `is hit by one of many who shoot at once`(round: Int) async {
        let values = Locked(0)
        let shot = OneShot<Int>(abandoned: 0) { _ in values.withLock { $0 += 1 } }
        let hits = await withTaskGroup(of: Bool.self) { group in
            for shooter in 0..<8 { group.addTask { shot(shooter) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(hits == 1)
        #expect(values.withLock { $0 } == 1)
    }
}
