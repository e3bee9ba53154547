public import Foundation

/// What every service of this package does, clause by clause, as something that can be run on any service.
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum ServiceContract {
    /// All clauses: loading, caching, failure, single flight, invalidation, sessions, cancellation, deadlines, delivery,
    /// reentrance, and loaders that call their own service.
    public static let clauses: [ContractClause] =
        caching + failure + singleFlight + invalidation + sessions + cancellation + deadlines + delivery + reentrance
        + loaderCalls

    /// The ids of the clauses in which good services differ: breaking one is advice, unless the subject promises it.
    public static let conventions: Set<String> = Set(clauses.filter(\.isConvention).map(\.id))

    /// How many seconds a subject may take for one step, and more on a machine that is busy with other things.
    public static let defaultTimeLimit: TimeInterval = 1

    /// Verifies clauses that the subject's features select, one after the other.
    ///
    /// It always ends: a subject that blocks a thread or never answers breaks the clause that finds it. If the subject does
    /// not even load (L1), nothing else is run. The article Clauses says how a clause is judged.
    ///
    /// A subject that takes more than `timeLimit` seconds for one step counts as silent; give it more on a busy machine.
    /// `onProgress` is told before and after each clause; by default that is what is left of a report if the subject ends the
    /// process.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public static func verify(
        _ subject: ContractSubject,
        clauses: [ContractClause] = ServiceContract.clauses,
        timeLimit: TimeInterval = ServiceContract.defaultTimeLimit,
        onProgress: (@Sendable (ContractProgress) -> Void)? = ContractProgress.standardError
    ) async -> ContractReport {
        await ContractClause.verify(subject, clauses, essential: "L1", timeLimit: timeLimit, onProgress: onProgress)
    }
}
