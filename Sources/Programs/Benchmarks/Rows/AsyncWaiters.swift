import AccessTokenAsync
import AccessTokenCore

/// Many tasks that wait for one load.
enum AsyncWaiters {
    /// From the first task's start to the last one's end, all on one thread; and the heap while all of them wait.
    ///
    /// The load runs already: its start is not part of a waiter's cost.
    static func onOneThread<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let loop = LoopExecutor(capacity: count)
        let design = Design(executor: loop)
        let finished = Countdown(count)
        Task(executorPreference: loop) { _ = try await design.wait() }
        loop.drain()
        let before = Heap.bytesInUse
        let parking = Stopwatch()
        for _ in 0..<count {
            Task(executorPreference: loop) {
                _ = try await design.wait()
                finished.signal()
            }
        }
        loop.drain()
        var nanoseconds = parking.nanoseconds
        let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
        let answering = Stopwatch()
        design.finish()
        loop.drain()
        nanoseconds += answering.nanoseconds
        precondition(finished.isZero, "a waiter of \(Design.name) was not answered")
        return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
    }

    /// The same on the global pool, with as many threads as there are processors.
    static func onPool<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let design = Design(executor: nil)
        let started = Countdown(count)
        let finished = Countdown(count)
        let watch = Stopwatch()
        for _ in 0..<count {
            Task.detached {
                started.signal()
                _ = try await design.wait()
                finished.signal()
            }
        }
        started.wait()
        design.finish()
        finished.wait()
        return watch.sample(per: count)
    }

    /// The same with all of them on the main actor, where an app's screens are.
    @MainActor
    static func onMainActor<Design: WaiterDesign>(_: Design.Type, count: Int) async -> Sample {
        let design = Design(executor: nil)
        let started = Countdown(count)
        let finished = Countdown(count)
        let watch = Stopwatch()
        for _ in 0..<count {
            Task { @MainActor in
                started.signal()
                _ = try await design.wait()
                finished.signal()
            }
        }
        while !started.isZero { await Task.yield() }
        design.finish()
        while !finished.isZero { await Task.yield() }
        return watch.sample(per: count)
    }

    /// Only the end: from the first cancellation to the last cancelled task's end.
    static func cancelled<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let loop = LoopExecutor(capacity: count)
        let design = Design(executor: loop)
        let finished = Countdown(count)
        let tasks = (0..<count).map { _ in
            Task(executorPreference: loop) {
                do { _ = try await design.wait() } catch { finished.signal() }
            }
        }
        loop.drain()
        let watch = Stopwatch()
        for task in tasks { task.cancel() }
        loop.drain()
        let sample = watch.sample(per: count)
        precondition(finished.isZero, "a cancelled waiter of \(Design.name) was not answered")
        design.finish()
        loop.drain()
        return sample
    }
}

/// A way for async callers to wait for one load together.
protocol WaiterDesign: Sendable {
    static var name: String { get }

    /// - Parameter executor: where the load runs; `nil` is the global pool.
    init(executor: (any TaskExecutor)?)
    func wait() async throws -> AccessToken

    /// Lets the load bring its token.
    func finish()
}

/// The base: all await the value of one task.
///
/// A cancelled waiter goes on waiting.
struct SharedTaskDesign: WaiterDesign {
    static let name = "one Task.value"
    private let gate: Gate
    private let load: Task<AccessToken, any Error>

    init(executor: (any TaskExecutor)?) {
        let gate = Gate()
        self.gate = gate
        load = Task(executorPreference: executor) {
            await gate.pass()
            return .valid
        }
    }

    func wait() async throws -> AccessToken { try await load.value }
    func finish() { gate.open() }
}

/// The actor of this package.
struct ServiceDesign: WaiterDesign {
    static let name = "AsyncAccessTokenService"
    private let gate = Gate()
    private let service: AsyncAccessTokenService

    init(executor: (any TaskExecutor)?) {
        let (loader, policy) = (GatedLoader(gate: gate), AccessTokenPolicy(loadDeadline: nil))
        if let executor {
            service = AsyncAccessTokenService(loader: loader, policy: policy, executor: executor)
        } else {
            service = AsyncAccessTokenService(loader: loader, policy: policy)
        }
    }

    func wait() async throws -> AccessToken { try await service.token() }
    func finish() { gate.open() }
}

/// The actor with continuations in a dictionary.
struct DictionaryDesign: WaiterDesign {
    static let name = "dictionary of continuations"
    private let gate = Gate()
    private let service: ContinuationDictionary

    init(executor: (any TaskExecutor)?) {
        service = ContinuationDictionary(loader: GatedLoader(gate: gate), executor: executor)
    }

    func wait() async throws -> AccessToken { try await service.token() }
    func finish() { gate.open() }
}

/// The lowest cost of a cancellable waiter: a continuation, and an empty cancellation handler.
struct ContinuationDesign: WaiterDesign {
    static let name = "bare continuation"

    // Safe: each is taken out once.
    @safe
    private struct Waiter: Sendable {
        let continuation: UnsafeContinuation<AccessToken, any Error>
    }

    private final class Waiters: Sendable {
        let waiting = Locked<[Waiter]>([])
    }

    private let waiters = Waiters()

    init(executor: (any TaskExecutor)?) {}

    func wait() async throws -> AccessToken {
        let isolation = #isolation
        return try await withTaskCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation(isolation: isolation) { continuation in
                waiters.waiting.withLock { unsafe $0.append(Waiter(continuation: continuation)) }
            }
        } onCancel: {
        }
    }

    func finish() {
        let taken = waiters.waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for waiter in taken { unsafe waiter.continuation.resume(returning: .valid) }
    }
}
