import Dispatch
import Foundation
import InterleavingExplorer
import Synchronization
import TestSupport
import Testing

/// A lock that is held where a step could be: no other thread would get past it.
@Suite("A step that has a lock that others need", .takesTurnsToExplore, .endsHangs)
struct LockTests {
    /// What many a callback service is: a lock, and continuations that are resumed while it is held.
    private final class Gate: Sendable {
        private let state = Protected<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

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
    @Sendable private static func gate(
        _ run: ScheduledRun,
        isMarked: Bool = false,
        opensOnly: Bool = false
    ) -> @Sendable () async -> String {
        let (cell, gate) = (Cell(), Gate())
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
        return { await cell.text }
    }

    @Test func `is held right behind it, if the code that has the lock is marked`() async {
        let orders = await allOutcomes { Self.gate($0, isMarked: true) }
        #expect(orders == ["olv", "ovl", "lov", "lvo", "vlo", "vol"])
    }

    @Test(arguments: ["olv", "ovl", "lov"])
    func `leads to a failure that is shown again by its schedule`(order: String) async throws {
        let scenario = Scenario("a gate") { run in
            let outcome = Self.gate(run)
            run.invariant("another order") { await outcome() != order }
        }
        let failure = try #require(await Explorer().explore(scenario).failure)
        #expect(failure.kind == .brokenInvariant)
        #expect(await Explorer().replay(failure.schedule, of: scenario).failure?.kind == .brokenInvariant)
    }

    /// Each operation marks something behind the gate; the outcome is the order of the marks.
    private static func marksBehindGate(butNot broken: String? = nil) -> Scenario {
        Scenario("a gate, and marks behind it") { run in
            let gate = Gate()
            run.operation("visitor") {
                await gate.pass()
                run.effect("v")
            }
            run.operation("opener") {
                gate.open()
                run.effect("o")
            }
            run.operation("looker") {
                gate.look()
                run.effect("l")
            }
            run.invariant("another order") { run.effects.joined() != broken }
            run.outcome { run.effects.joined() }
        }
    }

    @Test func `leads to outcomes that another explorer sees under their schedules`() async {
        let report = await Explorer(.exhaustive).explore(Self.marksBehindGate())
        #expect(report.remarks.contains { $0.contains("given up") }, "\(report)")
        #expect(Set(report.outcomes.keys).isSuperset(of: ["ovl", "vol", "vlo"]), "\(report)")
        for (outcome, schedule) in report.outcomes {
            let replay = await Explorer().replay(schedule, of: Self.marksBehindGate())
            #expect(replay.failure == nil && replay.trace.effects.joined() == outcome, "\(outcome): \(replay)")
        }
    }

    @Test(arguments: [SearchMode.automatic, .random(seed: 5, schedules: 300)])
    func `leads to a failure that another explorer shows again, also where delays were taken back`(
        _ mode: SearchMode
    ) async throws {
        let scenario = Self.marksBehindGate(butNot: "vlo")
        let failure = try #require(await Explorer(mode).explore(scenario).failure)
        #expect(failure.kind == .brokenInvariant && failure.schedule.description.contains("."), "\(failure)")
        #expect(await Explorer().replay(failure.schedule, of: scenario).failure?.kind == .brokenInvariant)
    }

    @Test(arguments: [true, false])
    func `leaves nothing out where nothing follows that others can notice`(reduces: Bool) async {
        let explorer = Explorer().with(\.reduces, reduces)
        #expect(await allOutcomes(by: explorer) { Self.gate($0, opensOnly: true) } == ["lv", "vl"])
    }

    @Test func `is let go as well where a block of a dispatch queue waits for it`() async {
        let report = await explore("a gate and a queue") { run in
            let (queue, gate) = (DispatchQueue(label: "subject"), Gate())
            run.control(queue)
            queue.async { gate.look() }
            run.operation("visitor") { await gate.pass() }
            run.operation("opener") { gate.open() }
        }
        #expect(report.holds, "\(report)")
        #expect(report.remarks.contains { $0.contains("given up") }, "\(report)")
    }

    /// The spinner takes more than a second of a processor.
    @Test(.enabled(if: effort != nil, "for .ci/deep interleavings"))
    func `is let go as well where others do not sleep, but spin, and the report says what that leaves out`() async {
        final class SpinLock: Sendable {
            private let isTaken = Atomic(false)

            func withLock(_ body: () -> Void) {
                // The spinner keeps its processor: beside busy threads, one that yields would hardly use any.
                while !isTaken.weakCompareExchange(expected: false, desired: true, ordering: .acquiring).exchanged {}
                body()
                isTaken.store(false, ordering: .releasing)
            }
        }
        // The spinner is given up after some processor time, for which it waits beside many busy processes.
        let explorer = Explorer().with(\.stepLimit, .seconds(3_000))
        let report = await explore("a spin lock", by: explorer) { run in
            let (lock, cell) = (SpinLock(), Cell())
            for name in ["first", "second"] {
                run.operation(name) {
                    lock.withLock { _ = Task { _ = await cell.add("t") } }
                    _ = await cell.add("o")
                }
            }
        }
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.omissions == [.heldLocks], "\(report)")
        #expect(report.remarks.contains { $0.contains("given up") }, "\(report)")
    }

    private func block(on semaphore: DispatchSemaphore) {
        semaphore.wait()
    }

    @Test func `is not taken for one because another step once slept while it was held`() async {
        let mustSleep = Protected(true)
        let (orders, report) = await outcomes { run in
            let cell = Cell()
            let hasGoneOn = Protected(false)
            let goesOn = DispatchSemaphore(value: 0)
            run.operation("parent") {
                let child = Task {
                    // In the first schedule in which the parent is held, until it is let go.
                    if !hasGoneOn.withLock({ $0 }), mustSleep.take() { block(on: goesOn) }
                    _ = await cell.add("c")
                }
                hasGoneOn.withLock { $0 = true }
                goesOn.signal()
                _ = await cell.add("p")
                await child.value
            }
            return { await cell.text }
        }
        #expect(report.holds && report.isComplete, "\(report)")
        #expect(report.remarks == [], "the judgement was taken back")
        #expect(orders == ["cp", "pc"])
        #expect(mustSleep.withLock { !$0 })
    }

    // MARK: What a lock hides, and which mark shows it

    /// A lock that is given up in the end: no thread of the tests waits for ever.
    private final class TimedLock: Sendable {
        private let semaphore = DispatchSemaphore(value: 1)

        func lock() { _ = semaphore.wait(timeout: .now() + 20) }
        func unlock() { semaphore.signal() }
    }

    @Test(arguments: [true, false])
    func `is found to deadlock with another one, if locking and unlocking are marked each`(areMarkedEach: Bool) async {
        let explorer = Explorer(.exhaustive).with(\.stepLimit, .seconds(areMarkedEach ? 1 : 60))
        let report = await explore("two locks in two orders", by: explorer) { run in
            let (left, right) = (TimedLock(), TimedLock())
            for (name, first, second) in [("moves", left, right), ("moves back", right, left)] {
                run.operation(name) {
                    if areMarkedEach {
                        run.effect("locks") { first.lock() }
                        run.effect("locks the other") { second.lock() }
                        run.effect("unlocks the other") { second.unlock() }
                        run.effect("unlocks") { first.unlock() }
                    } else {
                        run.effect(name) {
                            first.lock()
                            second.lock()
                            second.unlock()
                            first.unlock()
                        }
                    }
                }
            }
        }
        // One mark around both locks makes one segment of them, and they never meet: real threads do.
        #expect(report.failure?.kind == (areMarkedEach ? .stuckStep : nil), "\(report)")
        #expect(report.isComplete == !areMarkedEach, "\(report)")
    }

    @Test func `leaves orders out, and says so, where all that is marked stands on one line`() async {
        let report = await explore("one line") { run in
            let lock = TimedLock()
            for name in ["first", "second"] {
                run.operation(name) {
                    for step in [lock.lock, lock.unlock, lock.lock, lock.unlock] { run.effect(name, step) }
                }
            }
        }
        #expect(report.holds && !report.isComplete, "\(report)")
        #expect(report.omissions == [.heldLocks], "\(report)")
    }

    @Test(arguments: [(true, true), (false, true), (false, false)])
    func `hides a race between two of its uses, unless they are marked; to leave nothing out does not help`(
        isMarked: Bool,
        reduces: Bool
    ) async {
        let report = await explore("two loads", by: Explorer().with(\.reduces, reduces)) { run in
            let loads = Protected(0)
            let use: @Sendable (@Sendable () -> Int) -> Int = { body in isMarked ? run.effect("lock", body) : body() }
            for name in ["first", "second"] {
                run.operation(name) { if use({ loads.withLock { $0 } }) == 0 { _ = use { loads.next() } } }
            }
            run.invariant("one load") { loads.withLock { $0 } == 1 }
        }
        #expect(report.failure?.kind == (isMarked ? .brokenInvariant : nil), "\(report)")
        #expect(isMarked || report.isComplete && report.schedules == (reduces ? 1 : 2), "\(report)")
        #expect(report.description.contains("is state behind a lock") == !isMarked, "\(report)")
    }
}
