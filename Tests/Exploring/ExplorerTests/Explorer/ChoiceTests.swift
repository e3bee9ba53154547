import InterleavingExplorer
import TestSupport
import Testing

@Suite("What a schedule decides beside the order of steps", .takesTurnsToExplore, .endsHangs)
struct ChoiceTests {
    @Test func `is a value, each of which is tried with each order, in the setup and in a step`() async throws {
        let last = Protected("")
        let scenario = Scenario("answers") { run in
            let cell = Cell()
            let suffix = run.choose("suffix", from: ["", "!"])
            run.operation("first") { _ = await cell.add("a" + suffix) }
            run.operation("second") { _ = await cell.add(run.choose("letter", from: ["x", "y", "z"])) }
            run.outcome {
                let text = await cell.text
                last.withLock { $0 = text }
                return text
            }
        }
        let report = await Explorer().explore(scenario)
        let expected = ["", "!"].flatMap { suffix in
            ["x", "y", "z"].flatMap { ["a\(suffix)\($0)", "\($0)a\(suffix)"] }
        }
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(Set(report.outcomes.keys) == Set(expected))
        for (outcome, schedule) in report.outcomes {
            let replay = await Explorer().replay(schedule, of: scenario)
            #expect(replay.failure == nil && last.withLock { $0 } == outcome, "\(replay)")
        }
    }

    @Test func `may be up to two delays: all of these, and no other`() async throws {
        let scenario = Scenario("orders") { run in
            for name in ["a", "b", "c", "d"] { run.operation(name) { run.effect(name) } }
            run.outcome { run.effects.joined() }
        }
        let counts = await [0, 1, 2].asyncMap { bound in
            let report = await Explorer().with(\.maximumDelays, bound).explore(scenario)
            #expect(report.holds && report.isComplete, "\(report)")
            #expect(report.description.contains("with up to \(bound) delay"), "\(report)")
            #expect(throws: Never.self) { try report.verify() }
            #expect(report.outcomes.values.allSatisfy { $0.delays <= bound })
            return report.outcomes.count
        }
        // One that is not the first goes ahead: at the first choice 3 can, at the second 2, at the third 1. The orders
        // with two delays are the products of two of these numbers.
        #expect(counts == [1, 7, 18])
        // Nothing is left out that can show nothing new: what would stand for it may have more delays.
        let silence = Scenario("silence") { run in
            for name in ["a", "b", "c"] { run.operation(name) {} }
        }
        #expect(await Explorer().with(\.maximumDelays, 1).explore(silence).schedules == 4)
    }

    @Test
    func `is when time passes, unless the scenario says that it passes only when nothing else can happen`() async {
        func orders(isIdle: Bool) async -> Set<String> {
            await allOutcomes { run in
                if isIdle { run.letTimePassOnlyWhenIdle() }
                run.operation("sleeper") {
                    try await run.clock.sleep(for: .seconds(1))
                    run.effect("time")
                }
                run.operation("worker") {
                    await run.pause("work")
                    run.effect("work")
                }
                return { run.effects.joined(separator: " ") }
            }
        }
        #expect(await orders(isIdle: false) == ["time work", "work time"])
        #expect(await orders(isIdle: true) == ["work time"])
    }

    /// A value is read, then put into the cache; a writer of a higher priority overtakes that in the line before the
    /// cache.
    @Test(arguments: [false, true])
    func `are priorities: a cache that stays stale for ever`(vary: Bool) async {
        let report = await explore("a cache that reads through") { run in
            if vary { run.varyPriorities() }
            let cache = ReadThroughCache()
            run.operation("reader") { await cache.read() }
            run.operation("writer") { await cache.write(2) }
            run.invariant("who reads now gets the new value") { await cache.read() == 2 }
        }
        #expect(report.holds == !vary, "\(report)")
        #expect(report.isComplete == !vary, "\(report)")
    }
}

private actor Disk {
    private var value = 1

    func read() -> Int { value }
    func write(_ new: Int) { value = new }
}

/// Forgets its value before the disk has the new one, which is right only for callers who are served as they came.
private actor ReadThroughCache {
    private let disk = Disk()
    private var value: Int?

    func read() async -> Int {
        if let value { return value }
        let read = await disk.read()
        value = read
        return read
    }

    func write(_ new: Int) async {
        await disk.write(new)
        value = nil
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async -> Value) async -> [Value] {
        var values: [Value] = []
        for element in self { values.append(await transform(element)) }
        return values
    }
}
