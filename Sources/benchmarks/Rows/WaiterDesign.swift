import AccessTokenAsync
import Synchronization

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
/// A waiter that is cancelled goes on waiting.
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
        service = AsyncAccessTokenService(
            loader: GatedLoader(gate: gate),
            policy: AccessTokenPolicy(loadDeadline: nil),
            executor: executor
        )
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

/// The least that a waiter costs which a cancellation can reach: a continuation, and a cancellation handler that does
/// nothing.
struct ContinuationDesign: WaiterDesign {
    static let name = "bare continuation"

    // Safe: each is taken out once.
    @safe
    private struct Waiter: Sendable {
        let continuation: UnsafeContinuation<AccessToken, any Error>
    }

    private final class Waiters: Sendable {
        let waiting = Mutex<[Waiter]>([])
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
