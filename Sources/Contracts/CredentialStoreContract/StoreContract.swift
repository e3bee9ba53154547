public import ContractHarness
public import Foundation

/// One sentence about credential stores, with the scenario that shows whether a subject keeps it.
public typealias StoreClause = Clause<StoreSubject>

/// What every credential store must do, clause by clause, as something that can be run on any store.
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum StoreContract {
    /// All clauses: what is kept, versions, secrets, exclusion, failures, reading, waiting, and cancellation.
    public static let clauses: [StoreClause] = keeping + exclusion + waiting

    /// The ids of the clauses in which good stores differ: breaking one is advice, unless the subject promises it.
    public static let conventions: Set<ClauseID> = Set(clauses.filter(\.isConvention).map(\.id))

    /// Verifies clauses that the subject's features select, in their order, each in a new place.
    ///
    /// It always ends: a subject that blocks a thread or never answers breaks the clause that finds it. If the subject
    /// does not even keep a credential (K1), nothing else is run. The parameters are those of the contract for
    /// services.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public static func verify(
        _ subject: StoreSubject,
        clauses: [StoreClause] = StoreContract.clauses,
        timeLimit: TimeInterval = 5,
        onProgress: (@Sendable (ContractProgress) -> Void)? = ContractProgress.standardError
    ) async -> ContractReport {
        await StoreClause.verify(
            subject,
            clauses,
            essential: "K1",
            mistakes: [],
            timeLimit: timeLimit,
            onProgress: onProgress
        )
    }
}
