import AccessTokenCore
import TestSupport
import Testing

@Suite("A callback for one shot", .eightAtATime)
struct OneShotTests {
    private func collected(_ body: (OneShot<String>) -> Void) -> [String] {
        let collector = Collector()
        body(OneShot(abandoned: "abandoned") { collector.append($0) })
        return collector.values
    }

    private final class Collector: Sendable {
        private let collected = Locked<[String]>([])
        var values: [String] { collected.withLock { $0 } }
        func append(_ value: String) { collected.withLock { $0.append(value) } }
    }

    @Test("gets the first value, and says of the others that they came too late")
    func firstWins() {
        let values = collected { shot in
            #expect(shot("first"))
            #expect(!shot("second"))
        }
        #expect(values == ["first"])
    }

    @Test("gets the stand-in when it is released without a value")
    func abandoned() {
        #expect(collected { _ in } == ["abandoned"])
    }

    @Test("gets no stand-in after a value")
    func notAbandoned() {
        #expect(collected { shot in shot("value") } == ["value"])
    }

    @Test("lets go of its callback at the first value, not at its own end")
    func releasesCallback() {
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

    @Test("is hit by one of many who shoot at once", arguments: 1...50)
    func contended(round: Int) async {
        let collector = Collector()
        let shot = OneShot<String>(abandoned: "abandoned") { collector.append($0) }
        let hits = await withTaskGroup(of: Bool.self) { group in
            for shooter in 0..<8 { group.addTask { shot("\(shooter)") } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(hits == 1)
        #expect(collector.values.count == 1)
    }
}
