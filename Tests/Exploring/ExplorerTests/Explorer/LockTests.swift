import Foundation
import InterleavingExplorer
import Synchronization
import TestSupport
import Testing

/// A lock that is held where a step could be: nobody else would get past it.
@Suite("A step that has a lock that others need", .eightAtATime, .timeLimit(.minutes(10)))
struct LockTests {
    /// What many a callback service is: a lock, and continuations that are resumed while it is held.
    private final class Gate: Sendable {
        private let state = Shared<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

        func pass() async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            state.withLock { state in
                state.isOpen = true
                for continuation in state.waiting { continuation.resume() }
                state.waiting = []
            }
        }

        func look() {
            state.withLock { _ in }
        }
    }

    /// A visitor, one that opens the gate, and one that looks at it; each then writes into a cell.
    private func gate(
        isMarked: Bool = false,
        opensOnly: Bool = false,
        _ isPermitted: @escaping @Sendable (_ order: String) -> Bool
    ) -> Scenario {
        Scenario("a gate") { run in
            let cell = Cell()
            let gate = Gate()
            let atGate: @Sendable (() -> Void) -> Void = { body in
                if isMarked { run.effect("gate", body) } else { body() }
            }
            run.operation("visitor") {
                await gate.pass()
                _ = await cell.add("v")
            }
            run.operation("opener") {
                atGate { gate.open() }
                if !opensOnly { _ = await cell.add("o") }
            }
            run.operation("looker") {
                atGate { gate.look() }
                _ = await cell.add("l")
            }
            run.invariant("the order is permitted") { await isPermitted(cell.text) }
        }
    }

    private func explore(
        isMarked: Bool = false,
        opensOnly: Bool = false,
        by explorer: Explorer = Explorer()
    ) async -> (ExplorationReport, orders: Set<String>) {
        let seen = Shared<Set<String>>([])
        let report = await explorer.explore(
            gate(isMarked: isMarked, opensOnly: opensOnly) { order in
                seen.withLock { _ = $0.insert(order) }
                return true
            }
        )
        return (report, seen.withLock { $0 })
    }

    @Test("is not held there, and the report says so where that leaves orders out")
    func unmarked() async {
        let (report, orders) = await explore()
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.omission?.contains("lock") == true, "\(report)")
        #expect(orders.isSuperset(of: ["olv", "ovl", "lov"]))
    }

    @Test("is held right behind it, if the code that has the lock is marked")
    func marked() async {
        let (report, orders) = await explore(isMarked: true)
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(orders == ["olv", "ovl", "lov", "lvo", "vlo", "vol"])
    }

    @Test("leads to a failure that is shown again by its schedule", arguments: ["olv", "ovl", "lov"])
    func replay(order: String) async throws {
        let scenario = gate { $0 != order }
        let failure = try #require(await Explorer().explore(scenario).failure)
        #expect(failure.kind == .brokenInvariant)
        #expect(await Explorer().replay(failure.schedule, of: scenario).failure?.kind == .brokenInvariant)
    }

    @Test("leaves nothing out where nothing follows that others can notice", arguments: [Reductions.all, .none])
    func nothingFollows(reductions: Reductions) async {
        var explorer = Explorer()
        explorer.reductions = reductions
        let (report, orders) = await explore(opensOnly: true, by: explorer)
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(orders == ["lv", "vl"])
    }

    @Test("is not held there: that schedule is given up, and the search goes on", arguments: [Reductions.all, .none])
    func service(reductions: Reductions) async {
        final class Service: Sendable {
            private let state = Shared<(isBusy: Bool, handlers: [@Sendable () -> Void])>((false, []))
            private let enqueue: @Sendable (@escaping @Sendable () -> Void) -> Void

            init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
                self.enqueue = enqueue
            }

            func ask(then handler: @escaping @Sendable () -> Void) {
                state.withLock { state in
                    state.handlers.append(handler)
                    guard !state.isBusy else { return }
                    state.isBusy = true
                    // A queue is a preemption point, and here the lock is held.
                    enqueue { self.answer() }
                }
            }

            private func answer() {
                let handlers = state.withLock { state in
                    defer { state = (false, []) }
                    return state.handlers
                }
                for handler in handlers { handler() }
            }
        }
        var explorer = Explorer()
        explorer.reductions = reductions
        let report = await explorer.explore(
            Scenario("a service with a lock") { run in
                let queue = run.queue("queue")
                let service = Service { block in queue.async { block() } }
                for name in ["first", "second"] {
                    run.operation(name) {
                        await withCheckedContinuation { continuation in
                            run.effect("\(name) asks")
                            service.ask { continuation.resume() }
                        }
                    }
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.schedules > 1)
    }

    @Test("is let go as well where others do not sleep, but spin")
    func spinning() async {
        final class SpinLock: Sendable {
            private let isTaken = Atomic(false)

            func withLock(_ body: () -> Void) {
                while !isTaken.weakCompareExchange(expected: false, desired: true, ordering: .acquiring).exchanged {
                    sched_yield()
                }
                body()
                isTaken.store(false, ordering: .releasing)
            }
        }
        let report = await Explorer().explore(
            Scenario("a spin lock") { run in
                let lock = SpinLock()
                let cell = Cell()
                for name in ["first", "second"] {
                    run.operation(name) {
                        lock.withLock { _ = Task { _ = await cell.add("t") } }
                        _ = await cell.add("o")
                    }
                }
            }
        )
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.omission?.contains("lock") == true, "\(report)")
    }

    private func block(on semaphore: DispatchSemaphore) {
        semaphore.wait()
    }

    @Test("is not taken for one because another step once slept while it was held")
    func nap() async {
        let seen = Shared<Set<String>>([])
        let hasSlept = Shared(false)
        let report = await Explorer().explore(
            Scenario("a nap") { run in
                let cell = Cell()
                let hasGoneOn = Shared(false)
                let goesOn = DispatchSemaphore(value: 0)
                run.operation("parent") {
                    let child = Task {
                        // In the first schedule in which the parent is held, until it is let go.
                        let sleeps = hasSlept.withLock { hasSlept in
                            defer { hasSlept = hasSlept || !hasGoneOn.withLock { $0 } }
                            return !hasSlept && !hasGoneOn.withLock { $0 }
                        }
                        if sleeps { block(on: goesOn) }
                        _ = await cell.add("c")
                    }
                    hasGoneOn.withLock { $0 = true }
                    goesOn.signal()
                    _ = await cell.add("p")
                    await child.value
                }
                run.invariant("is collected") {
                    let order = await cell.text
                    seen.withLock { _ = $0.insert(order) }
                    return true
                }
            }
        )
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(seen.withLock { $0 } == ["cp", "pc"])
        #expect(hasSlept.withLock { $0 })
    }
}
