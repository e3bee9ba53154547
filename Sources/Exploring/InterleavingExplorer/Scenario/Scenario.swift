/// What is to be explored: a few concurrent operations on a subject, and what must hold.
///
/// The setup runs anew for every schedule. It makes a fresh subject and says what happens:
///
/// ```swift
/// let scenario = Scenario("two withdrawals") { run in
///     let account = Account(balance: 100)
///     run.operation("first") { await account.withdraw(80) }
///     run.operation("second") { await account.withdraw(80) }
///     run.invariant("no overdraft") { await account.balance >= 0 }
/// }
/// let report = await Explorer().explore(scenario)
/// ```
///
/// Small scenarios beat one big one: two or three operations find most bugs, and can be exhausted.
@available(Executors, *)
public struct Scenario: Sendable {
    /// The name in the report.
    public let name: String

    let setUp: @Sendable (ScheduledRun) throws -> Void

    /// A scenario that is set up by a closure, once for each schedule.
    ///
    /// The subject must depend on nothing but the schedule: no wall clock, no unseeded random numbers, no
    /// iteration over a set or dictionary, and nothing that it shares with another exploration, which may run at
    /// the same time. An error thrown by the setup is a failure of the schedule.
    public init(_ name: String, setUp: @escaping @Sendable (ScheduledRun) throws -> Void) {
        self.name = name
        self.setUp = setUp
    }
}

/// One of the concurrent operations of a run.
@available(Executors, *)
public final class ScenarioOperation<Value: Sendable>: Sendable {
    /// The name in the trace.
    public let name: String

    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var task: Task<Void, Never>?
    }

    private let state = Protected(State())

    let participant: Int

    init(name: String, participant: Int) {
        self.name = name
        self.participant = participant
    }

    /// What the operation has returned or thrown; `nil` while it has not ended.
    public var result: Result<Value, any Error>? { state.withLock { $0.result } }

    /// What the operation has returned; `nil` while it has not ended and if it threw.
    public var value: Value? { try? result?.get() }

    /// The error that the operation has thrown, if it has.
    public var error: (any Error)? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    func perform(_ body: () async throws -> Value) async {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        state.withLock { $0 = State(result: result) }
    }

    func begin(_ task: Task<Void, Never>) {
        state.withLock { $0.task = task }
    }

    func cancel() {
        state.withLock { $0.task }?.cancel()
    }
}
