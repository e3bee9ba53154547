import Dispatch
import Foundation
import InterleavingExplorer
import Synchronization
import TestSupport
import Testing

/// State that operations share in a way that the explorer cannot see, in its many shapes.
@Suite("State that is not marked", .takesTurnsToExplore, .serialized, .endsHangs)
struct UnmarkedStateTests {
    /// A semaphore that is right but for the cancellation of a waiter: the permit that the waiter has got by then is
    /// lost.
    private final class LockedSemaphore: Sendable {
        private let state = Protected<
            (permits: Int, waiters: [(id: Int, continuation: CheckedContinuation<Void, Never>)])
        >((1, []))

        func wait() async {
            let id = state.withLock { $0.permits * 1000 + $0.waiters.count }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isFree = state.withLock { state in
                        state.permits -= 1
                        if state.permits < 0 { state.waiters.append((id, continuation)) }
                        return state.permits >= 0
                    }
                    if isFree { continuation.resume() }
                }
            } onCancel: {
                state.withLock { state in
                    state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
                }?.continuation.resume()
            }
        }

        func signal() {
            state.withLock { state in
                state.permits += 1
                return state.waiters.isEmpty ? nil : state.waiters.removeFirst().continuation
            }?.resume()
        }
    }

    // Safe: the explorer runs one step at a time. That nothing marks the state is what the report must say.
    private final class Plain: @unchecked Sendable {
        var value = 0
    }

    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether a schedule makes it fail, however little of it is seen.
        let isWrong: Bool
        let setUp: @Sendable (ScheduledRun) -> Void

        init(_ name: String, isWrong: Bool = false, _ setUp: @escaping @Sendable (ScheduledRun) -> Void) {
            (testDescription, self.isWrong, self.setUp) = (name, isWrong, setUp)
        }
    }

    private static func both(_ name: String, _ use: @escaping @Sendable () -> @Sendable () -> Void) -> Shape {
        Shape(name) { run in
            let use = use()
            for name in ["first", "second"] {
                run.operation(name) {
                    use()
                    await run.pause("a moment")
                    use()
                }
            }
        }
    }

    private static let unmarked: [Shape] = [
        both("an NSLock") {
            let (lock, count) = (NSLock(), Plain())
            return { lock.withLock { count.value += 1 } }
        },
        both("a mutex") {
            let count = Protected(0)
            return { count.withLock { $0 += 1 } }
        },
        both("an atomic") {
            final class Count: Sendable { let value = Atomic(0) }
            let count = Count()
            return { _ = count.value.add(1, ordering: .relaxed) }
        },
        both("a queue that callers wait for") {
            let (queue, count) = (DispatchQueue(label: "count"), Plain())
            return { queue.sync { count.value += 1 } }
        },
        both("a dispatch semaphore") {
            let (semaphore, count) = (DispatchSemaphore(value: 1), Plain())
            return {
                semaphore.wait()
                count.value += 1
                semaphore.signal()
            }
        },
        both("nothing that guards it") {
            let count = Plain()
            return { count.value += 1 }
        },
        Shape("a semaphore, and a cancellation") { run in
            let semaphore = LockedSemaphore()
            let first = run.operation("first") {
                await semaphore.wait()
                await run.pause("work")
                semaphore.signal()
            }
            run.operation("second") {
                await semaphore.wait()
                semaphore.signal()
            }
            run.step(cancelling: first)
        },
        Shape("a semaphore around what is marked") { run in
            let semaphore = LockedSemaphore()
            for name in ["first", "second"] {
                run.operation(name) {
                    await semaphore.wait()
                    run.effect("\(name) works") {}
                    await run.pause("work")
                    semaphore.signal()
                }
            }
        },
        Shape("a semaphore around an actor") { run in
            let (semaphore, cell) = (LockedSemaphore(), Cell())
            for name in ["first", "second"] {
                run.operation(name) {
                    await semaphore.wait()
                    _ = await cell.add(name)
                    semaphore.signal()
                }
            }
        },
        Shape("one operation whose cancellation finds it", isWrong: true) { run in
            let waiting = Protected<CheckedContinuation<Void, Never>?>(nil)
            let first = run.operation("first") {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { continuation in waiting.withLock { $0 = continuation } }
                } onCancel: {
                    waiting.withLock { $0.take() }?.resume()
                }
            }
            run.step(cancelling: first)
        },
        Shape("a lock that only one of two has marked") { run in
            let count = Protected(0)
            run.operation("first") { run.effect("counts") { count.withLock { $0 += 1 } } }
            run.operation("second") { count.withLock { $0 += 1 } }
        },
        Shape("a lock of one beside an actor of two others") { run in
            let (cell, count) = (Cell(), Protected(0))
            for name in ["first", "second"] { run.operation(name) { _ = await cell.add(name) } }
            run.operation("third") { count.withLock { $0 += 1 } }
        },
        Shape("a stream") { run in
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            run.operation("reads") { for await _ in stream.prefix(1) {} }
            run.operation("sends") { continuation.yield(1) }
        },
    ]

    @Test(arguments: unmarked)
    func `is suspected, at any number of schedules, and does not pass`(_ shape: Shape) async throws {
        let explorer = Explorer().with(\.patience, .milliseconds(1))
        let report = await explore(shape.testDescription, by: explorer, shape.setUp)
        guard report.holds else { return #expect(shape.isWrong, "\(report)") }
        #expect(report.description.contains("Nothing shared was seen"), "\(report)")
        let failure = #expect(throws: ScenarioFailure.self) { try report.verify() }
        #expect(failure?.message.contains("run.permitNothingShared()") == true, "\(report)")
        try report.verify(allowIncomplete: true)
        let permitted = await explore(shape.testDescription, by: explorer) { run in
            run.permitNothingShared()
            shape.setUp(run)
        }
        try permitted.verify()
    }

    /// Hands waiters out, to be woken by whoever has them.
    private actor Hall {
        private var waiters: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func enter() async {
            if !isOpen { await withCheckedContinuation { waiters.append($0) } }
        }

        func open() -> [CheckedContinuation<Void, Never>] {
            isOpen = true
            defer { waiters = [] }
            return waiters
        }
    }

    private static let seen: [Shape] = [
        Shape("an actor") { run in
            let cell = Cell()
            for name in ["first", "second"] { run.operation(name) { _ = await cell.add(name) } }
        },
        Shape("an actor, entered by tasks of the operations") { run in
            let cell = Cell()
            for name in ["first", "second"] { run.operation(name) { await Task { _ = await cell.add(name) }.value } }
        },
        Shape("a task that both await") { run in
            let task = Task(executorPreference: run.executor) { await run.pause("work") }
            for name in ["first", "second"] { run.operation(name) { await task.value } }
        },
        Shape("a task that an actor keeps for both") { run in
            actor Keeper {
                private var task: Task<Int, Never>?

                func value(_ load: @escaping @Sendable () async -> Int) async -> Int {
                    let task = self.task ?? Task.detached { await load() }
                    self.task = task
                    return await task.value
                }
            }
            let keeper = Keeper()
            for name in ["first", "second"] {
                run.operation(name) {
                    _ = await keeper.value {
                        await run.pause("answer")
                        return 1
                    }
                }
            }
        },
        Shape("marks") { run in
            for name in ["first", "second"] { run.operation(name) { run.effect(name) } }
        },
        Shape("a marked lock with waiters") { run in
            let waiting = Protected<(isOpen: Bool, all: [CheckedContinuation<Void, Never>])>((false, []))
            run.operation("waits") {
                await withCheckedContinuation { continuation in
                    let isOpen = run.effect("registers") {
                        waiting.withLock { waiting in
                            if !waiting.isOpen { waiting.all.append(continuation) }
                            return waiting.isOpen
                        }
                    }
                    if isOpen { continuation.resume() }
                }
            }
            run.operation("opens") {
                let all = run.effect("opens") {
                    waiting.withLock { waiting in
                        waiting.isOpen = true
                        return waiting.all
                    }
                }
                for continuation in all { continuation.resume() }
            }
        },
        Shape("waiters that an actor keeps, and that are woken outside of it") { run in
            let hall = Hall()
            run.operation("waits") { await hall.enter() }
            run.operation("opens") { for waiter in await hall.open() { waiter.resume() } }
        },
        Shape("a continuation that the waiter has handed to a task of its own") { run in
            let cell = Cell()
            for name in ["first", "second"] {
                run.operation(name) {
                    await withCheckedContinuation { continuation in
                        Task { continuation.resume() }
                    }
                    _ = await cell.add(name)
                }
            }
        },
        Shape("a fake server, and a cancelled caller") { run in
            let cell = Cell()
            let first = run.operation("first") {
                _ = await cell.add("1")
                try await run.clock.sleep(for: .seconds(1))
            }
            run.operation("second") {
                await run.pause("answer")
                _ = await cell.add("2")
            }
            run.step(cancelling: first)
        },
        Shape("streams that an actor serves") { run in
            actor Hub {
                private var all: [AsyncStream<Int>.Continuation] = []
                private var last: Int?

                func subscribe() -> AsyncStream<Int> {
                    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
                    if let last { continuation.yield(last) }
                    all.append(continuation)
                    return stream
                }
                func publish(_ value: Int) -> [AsyncStream<Int>.Continuation] {
                    last = value
                    return all
                }
            }
            let hub = Hub()
            run.operation("reads") { for await _ in await hub.subscribe().prefix(1) {} }
            run.operation("sends") {
                for reader in await hub.publish(1) { run.effect("yields") { _ = reader.yield(1) } }
            }
        },
        Shape("a queue of the run") { run in
            let queue = run.queue("queue")
            let journal = Journal()
            for name in ["first", "second"] { run.operation(name) { queue.async { journal.add(name) } } }
        },
        Shape("one operation") { run in
            run.operation("first") { await run.pause("a moment") }
        },
    ]

    @Test(arguments: seen)
    func `is not suspected where all is seen that operations share`(_ shape: Shape) async throws {
        try await explore(shape.testDescription, shape.setUp).verify()
    }
}
