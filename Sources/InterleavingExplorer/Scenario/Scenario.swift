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
public struct Scenario: Sendable {
    /// The name in the report.
    public let name: String

    let setUp: @Sendable (ScenarioRun) throws -> Void

    /// A scenario that is set up by a closure, once for each schedule.
    ///
    /// The subject must depend on nothing but the schedule: no wall clock, no unseeded random numbers, no
    /// iteration over a set or dictionary, and nothing that it shares with another exploration, which may run at
    /// the same time. An error thrown by the setup is a failure of the schedule.
    public init(_ name: String, setUp: @escaping @Sendable (ScenarioRun) throws -> Void) {
        self.name = name
        self.setUp = setUp
    }
}
