import AccessTokenSynchronization
import Dispatch
package import Testing

/// Four tests of the suites that have this trait run at a time, four of those that explore, and sixteen of those that
/// mostly wait.
///
/// Without it all of the tests run at once: thousands of sockets and of tasks for the two or four threads of the pool,
/// among which a test that waits for its next step can wait for a minute. A test waits for its turn outside its time
/// limit.
package struct TakesTurns: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var hasTurn = false

    /// How many turns are free, and who waits for one.
    fileprivate typealias Turns = TimedWaiters<Int, Void>

    fileprivate static let turns = Turns(4)
    fileprivate static let turnsToWait = Turns(16)
    fileprivate static let turnsToExplore = Turns(4)

    fileprivate let turns: Turns
    package let isRecursive = true

    /// A suite whose tests run one after the other has one turn for all of them: else each waits behind all other tests.
    package func scopeProvider(for test: Test, testCase: Test.Case?) -> TakesTurns? {
        let isOne = test.isSuite ? test.traits.contains { $0 is ParallelizationTrait } : testCase == nil
        return isOne ? self : nil
    }

    @concurrent
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A suite inside a suite gives the trait to a test twice.
        if Self.hasTurn { return try await function() }
        await turns.outcome(atMost: nil, by: SystemClock(), timedOut: ()) { free in
            guard free > 0 else { return nil }
            free -= 1
            return ()
        }
        defer { giveBackTurn() }
        try await Self.$hasTurn.withValue(true, operation: function)
    }

    private func giveBackTurn() {
        let next = turns.withLock { free, waiters in
            free += waiters.isEmpty ? 1 : 0
            return waiters.isEmpty ? nil : waiters.removeFirst()
        }
        next?.end(with: ())
    }
}

extension Trait where Self == TakesTurns {
    package static var takesTurns: TakesTurns { TakesTurns(turns: TakesTurns.turns) }

    /// For tests that wait for most of their time: they take no turn of a test that could keep a processor busy.
    package static var takesTurnsToWait: TakesTurns { TakesTurns(turns: TakesTurns.turnsToWait) }

    /// For tests that search: only as many searches run at a time as there are processors, and each test that waits for
    /// the search of another one would keep a turn.
    package static var takesTurnsToExplore: TakesTurns { TakesTurns(turns: TakesTurns.turnsToExplore) }
}

/// Runs what blocks or computes for long on a thread of its own: no other test waits for a thread of the pool then.
package func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        // A serial queue has a thread of its own; the global ones share theirs with the pool.
        DispatchQueue(label: "test").async { continuation.resume(returning: body()) }
    }
}
