import Dispatch
import Foundation
import InterleavingExplorer
import TestSupport
import Testing

/// What a report must not say, and what must be there when there is no report.
@Suite("The explorer says", .eightAtATime, .serialized, .timeLimit(.minutes(5)))
struct HonestyTests {
    private func effects(_ names: [String]) -> Scenario {
        Scenario("effects") { run in
            for name in names { run.operation(name) { run.effect(name) } }
        }
    }

    @Test("that a search was cut, and does not pass it unless that is allowed")
    func incomplete() async throws {
        var explorer = Explorer()
        explorer.maximumSchedules = 3
        let cut = await explorer.explore(effects(["a", "b", "c"]))
        let failure = #expect(throws: ScenarioFailure.self) { try cut.verify() }
        #expect(failure?.kind == .incompleteSearch)
        #expect(failure?.message.contains("maximumSchedules") == true)
        try cut.verify(allowIncomplete: true)
        try await Explorer().explore(effects(["a", "b", "c"])).verify()
        let drawn = await Explorer(.random(seed: 1, schedules: 10)).explore(effects(["a"]))
        #expect(throws: ScenarioFailure.self) { try drawn.verify() }
    }

    @Test("that a task went to the main actor, also where nobody waits for it")
    func mainActor() async {
        let report = await Explorer().explore(
            Scenario("fire and forget") { run in
                run.operation("caller") { Task { @MainActor in } }
            }
        )
        #expect(report.failure?.kind == .escape, "\(report)")
        #expect(report.failure?.message.contains("main actor") == true)
    }

    @Test("which step does not end, and under which schedule")
    func stuckStep() async {
        let door = DispatchSemaphore(value: 0)
        var explorer = Explorer()
        explorer.stepLimit = .milliseconds(300)
        let report = await explorer.explore(
            Scenario("a lock across a suspension") { run in
                run.operation("first") { run.effect("first") }
                run.operation("second") {
                    run.effect("second")
                    if run.effects.first == "second" { _ = door.wait(timeout: .now() + 20) }
                }
            }
        )
        #expect(report.failure?.kind == .stuckStep, "\(report)")
        #expect(report.failure?.message.contains("second") == true)
        #expect(report.failure?.schedule == "1")
        door.signal()
    }

    @Test("that a loop does not end, of whatever it is made")
    func loops() async {
        let isEnough = Shared(false)
        defer { isEnough.withLock { $0 = true } }
        var explorer = Explorer()
        explorer.stepLimit = .milliseconds(300)
        // Depending on the optimizer, the loop leaves the actor each time, or stays there in one step.
        let report = await explorer.explore(
            Scenario("an endless loop over an actor") { run in
                let counter = Counter()
                run.operation("first") { while !isEnough.withLock({ $0 }) { await counter.increment() } }
            }
        )
        #expect(report.failure.map { [.livelock, .stuckStep].contains($0.kind) } == true, "\(report)")
    }

    @Test("in a file which schedule runs, at any moment")
    func breadcrumbs() async throws {
        let path = NSTemporaryDirectory() + "breadcrumbs-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var explorer = Explorer()
        explorer.breadcrumbs = path
        let seen = Shared<Set<String>>([])
        let report = await explorer.explore(
            Scenario("two effects") { run in
                for name in ["a", "b"] { run.operation(name) { run.effect(name) } }
                run.invariant("is collected") {
                    let text = try String(contentsOfFile: path, encoding: .utf8)
                    let order = run.effects.joined()
                    seen.withLock { _ = $0.insert("\(order) \(text.trimmingCharacters(in: .whitespaces))") }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(seen.withLock { $0 } == ["ab two effects\n0", "ba two effects\n1"])
    }

    @Test("whether calls look as if they came one after the other")
    func linearizability() async {
        func scenario(isAtomic: Bool) -> Scenario {
            Scenario("a counter") { run in
                let counter = Counter()
                let history = run.history(of: SequentialCounter())
                for name in ["first", "second"] {
                    run.operation(name) {
                        await history.call(.increment) {
                            if isAtomic {
                                return await counter.next()
                            }
                            let value = await counter.value + 1
                            await counter.set(value)
                            return value
                        }
                    }
                }
            }
        }
        let faulty = await Explorer().explore(scenario(isAtomic: false))
        #expect(faulty.failure?.message.contains("linearizable") == true, "\(faulty)")
        let sound = await Explorer().explore(scenario(isAtomic: true))
        #expect(sound.holds && sound.isComplete, "\(sound)")
    }
}

private struct SequentialCounter: SequentialSpecification {
    enum Call: Sendable {
        case increment
    }

    private var value = 0

    mutating func permits(_ call: Call, answering answer: Int) -> Bool {
        value += 1
        return answer == value
    }
}

extension Counter {
    fileprivate func next() -> Int {
        increment()
        return value
    }
}
