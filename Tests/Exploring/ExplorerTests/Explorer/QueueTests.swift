import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

/// A callback service on a queue, with a decision that may be split over two blocks.
private final class CallbackLoads: Sendable {
    typealias Enqueue = @Sendable (@escaping @Sendable () -> Void) -> Void

    private struct State: Sendable {
        var isLoading = false
        var isLoaded = false
        var handlers: [@Sendable () -> Void] = []
        var loads = 0
    }

    private let state = Shared(State())
    private let isSplit: Bool
    private let enqueue: Enqueue
    private let load: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(
        isSplit: Bool,
        enqueue: @escaping Enqueue,
        load: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.isSplit = isSplit
        self.enqueue = enqueue
        self.load = load
    }

    var loads: Int { state.withLock(\.loads) }

    func retrieve(then handler: @escaping @Sendable () -> Void) {
        enqueue { [self] in
            let (isLoaded, mustLoad) = state.withLock { state in
                if !state.isLoaded {
                    state.handlers.append(handler)
                }
                return (state.isLoaded, !state.isLoading)
            }
            guard !isLoaded else { return handler() }
            guard mustLoad else { return }
            if isSplit {
                enqueue { self.begin() }
            } else {
                begin()
            }
        }
    }

    private func begin() {
        state.withLock { state in
            state.isLoading = true
            state.loads += 1
        }
        load { [self] in
            enqueue {
                let handlers = self.state.withLock { state in
                    state.isLoaded = true
                    defer { state.handlers = [] }
                    return state.handlers
                }
                for handler in handlers {
                    handler()
                }
            }
        }
    }
}

@Suite("A queue", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct QueueTests {
    private func scenario(isSplit: Bool, suspended: Bool, callers: Int = 2) -> Scenario {
        Scenario("callbacks") { run in
            let enqueue: CallbackLoads.Enqueue
            if suspended {
                let queue = DispatchQueue(label: "subject")
                run.control(queue)
                enqueue = { queue.async(execute: $0) }
            } else {
                let queue = run.queue("queue")
                enqueue = { queue.async(execute: $0) }
            }
            let loads = CallbackLoads(isSplit: isSplit, enqueue: enqueue) { answer in
                run.step("answer") { answer() }
            }
            for number in 1...callers {
                run.operation("caller \(number)") {
                    await withCheckedContinuation { continuation in
                        loads.retrieve { continuation.resume() }
                    }
                }
            }
            run.invariant("one load") { loads.loads == 1 }
        }
    }

    @Test("that is controlled shows a decision split over two blocks, and holds without the split")
    func controlled() async {
        let faulty = await Explorer().explore(scenario(isSplit: true, suspended: false))
        #expect(faulty.failure?.kind == .brokenInvariant)
        let fixed = await Explorer().explore(scenario(isSplit: false, suspended: false, callers: 3))
        #expect(fixed.holds && fixed.isComplete)
        print("controlled queue: \(fixed)")
    }

    @Test("of Dispatch, unmodified, is drained when the schedule says so")
    func suspended() async {
        let faulty = await Explorer().explore(scenario(isSplit: true, suspended: true))
        #expect(faulty.failure?.kind == .brokenInvariant)
        let fixed = await Explorer().explore(scenario(isSplit: false, suspended: true))
        #expect(fixed.holds && fixed.isComplete)
        #expect(fixed.schedules > 10)
        print("suspended queue: \(fixed)")
    }

    @Test("of Dispatch lets in other steps between a block and the one that it adds, or none")
    func chains() async {
        let seen = Journal()
        let report = await Explorer().explore(
            Scenario("a chain") { run in
                let queue = DispatchQueue(label: "subject")
                run.control(queue)
                queue.async {
                    run.effect("1")
                    queue.async { run.effect("2") }
                }
                run.step("something else") { run.effect("x") }
                run.invariant("is recorded") {
                    seen.add(run.effects.joined(separator: " "))
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(Set(seen.all) == ["1 2 x", "1 x 2", "x 1 2"])
    }

    @Test("of Dispatch is drained as long as blocks add blocks, also for a preparation, and beside another one")
    func silentChains() async {
        var explorer = Explorer()
        explorer.maximumSchedules = 40
        let report = await explorer.explore(
            Scenario("silent chains") { run in
                let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
                run.control(first, "first")
                run.control(second, "second")
                @Sendable func answer(_ queue: DispatchQueue) async {
                    await withCheckedContinuation { continuation in
                        queue.async { queue.async { queue.async { queue.async { continuation.resume() } } } }
                    }
                }
                try run.prepare { await answer(second) }
                run.operation("caller") {
                    await answer(first)
                    await answer(second)
                }
            }
        )
        #expect(report.holds, "\(report)")
    }

    @Test("runs its blocks one at a time, in the order in which they came")
    func order() async {
        let report = await Explorer().explore(
            Scenario("blocks") { run in
                let (queue, journal) = (run.queue("queue"), Journal())
                queue.async {
                    journal.add("1")
                    queue.async { journal.add("3") }
                }
                queue.async { journal.add("2") }
                run.step("something else") {}
                run.invariant("in order") { journal.all == ["1", "2", "3"] }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.schedules == 4)
    }

    @Test("offers a block that the one before it adds once, and knows whether one of its blocks runs")
    func additions() async {
        let report = await Explorer().explore(
            Scenario("an addition") { run in
                let queue = run.queue("queue")
                let seen = Journal()
                queue.async {
                    queue.async { seen.add("block: \(queue.isCurrent)") }
                }
                run.step("something else") { seen.add("step: \(queue.isCurrent)") }
                run.invariant("is current inside only") { Set(seen.all) == ["block: true", "step: false"] }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.schedules == 3)
    }

    @Test("can carry an actor that has an executor of its own")
    func actorOnQueue() async {
        actor Pinned {
            nonisolated let queue: ControlledQueue
            var log = ""
            nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }
            init(_ queue: ControlledQueue) { self.queue = queue }
            func add(_ text: String) {
                assertIsolated()
                log += text
            }
        }
        let seen = Journal()
        let report = await Explorer().explore(
            Scenario("pinned") { run in
                let queue = run.queue("queue")
                let pinned = Pinned(queue)
                queue.async { pinned.assumeIsolated { $0.log += "." } }
                run.operation("a") { await pinned.add("a") }
                run.operation("b") { await pinned.add("b") }
                run.invariant("is recorded") {
                    seen.add(await pinned.log)
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(Set(seen.all) == [".ab", ".ba"])
    }
}
