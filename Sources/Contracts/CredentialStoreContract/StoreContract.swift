/// What every credential store must do, clause by clause, as something that can be run on any store.
///
/// ```swift
/// let report = await StoreContract.verify(subject)
/// print(report)
/// ```
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum StoreContract {
    /// All clauses: what is kept, versions, exclusion, failures, reading, waiting, cancellation, and secrets.
    public static let clauses: [StoreClause] = keeping + versions + exclusion + failures + reading + waiting + ending

    /// The ids of the clauses in which good stores differ: breaking one is advice, unless the subject promises it.
    public static let conventions: Set<String> = Set(clauses.filter(\.wording.isConvention).map(\.id))

    /// How long a subject may take for one step: five seconds, and longer on a machine that is busy with other things.
    public static let defaultTimeLimit = Duration.seconds(5)

    /// Verifies clauses that the subject's features select, one after the other, each in a new place.
    ///
    /// It always ends: a subject that blocks a thread or never answers breaks the clause that finds it. If the subject does
    /// not even keep a credential (K1), nothing else is run.
    ///
    /// - Parameters:
    ///   - subject: the kind of store.
    ///   - clauses: those that are verified; all of them by default.
    ///   - timeLimit: how long a subject may take for one step before it counts as silent; longer on a busy machine.
    ///   - onProgress: told before and after each clause; after a crash of the subject, it has said which one was running.
    public static func verify(
        _ subject: StoreSubject,
        clauses: [StoreClause] = StoreContract.clauses,
        timeLimit: Duration = StoreContract.defaultTimeLimit,
        onProgress: (@Sendable (ContractProgress) -> Void)? = nil
    ) async -> ContractReport {
        // On a thread of its own, so that progress is told also when the subject blocks all those of the pool.
        let lane = Lane("stores")
        return await Task(executorPreference: lane) {
            var rows: [(ContractClause, ContractOutcome)] = []
            var isUseless = false
            for clause in clauses {
                onProgress?(ContractProgress(subject: subject.name, clause: clause.wording, outcome: nil))
                let outcome: ContractOutcome =
                    isUseless ? .notJudged("K1 is broken") : await clause.verify(subject, timeLimit: timeLimit)
                if clause.id == "K1", case .broken = outcome { isUseless = true }
                rows.append((clause.wording, outcome))
                onProgress?(ContractProgress(subject: subject.name, clause: clause.wording, outcome: outcome))
            }
            return ContractReport(subject: subject.name, rows: rows)
        }.value
    }
}
