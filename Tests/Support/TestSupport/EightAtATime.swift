import AccessTokenCore
import Dispatch
package import Testing

/// Eight tests of the suites that have this trait run at a time.
///
/// Without it all of the tests run at once: thousands of sockets and of tasks for the two or four threads of the pool,
/// among which a test that waits for its next step can wait for a minute. A test waits for its turn outside its time limit.
package struct EightAtATime: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var hasTurn = false
    private static let turns = Turns(count: 8)

    package let isRecursive = true

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> EightAtATime? {
        test.isSuite || testCase != nil ? nil : self
    }

    @concurrent
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite inside a suite gives the trait to a test twice.
        if Self.hasTurn { return try await function() }
        await Self.turns.take()
        defer { Self.turns.giveBack() }
        try await Self.$hasTurn.withValue(true, operation: function)
    }
}

extension Trait where Self == EightAtATime {
    package static var eightAtATime: EightAtATime { EightAtATime() }
}

/// Runs what blocks or computes for long on a thread of its own: no other test waits for a thread of the pool then.
package func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        // A serial queue has a thread of its own; the global ones share theirs with the pool.
        DispatchQueue(label: "test").async { continuation.resume(returning: body()) }
    }
}

/// Some turns, given to those who ask in the order in which they ask.
private final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(count: Int) { state = Locked(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
