/// What every service of this package does, clause by clause, as something that can be run on any service.
///
/// ```swift
/// let report = await ServiceContract.verify(subject)
/// print(report)
/// ```
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum ServiceContract {
    /// All clauses: loading, caching, failure, single flight, invalidation, sessions, cancellation, deadlines, delivery,
    /// reentrance, and loaders that call their own service.
    public static let clauses: [ContractClause] =
        loading + caching + failure + singleFlight + invalidation + sessions + cancellation + deadlines + delivery
        + reentrance + loaderCalls

    /// The ids of the clauses in which good services differ: breaking one is advice, unless the subject promises it.
    public static let conventions: Set<String> = Set(clauses.filter(\.isConvention).map(\.id))

    /// How long a subject may take for one step: a second, and longer on a machine that is busy with other things.
    public static let defaultTimeLimit = Duration.seconds(1)

    /// Verifies clauses that the subject's features select, one after the other.
    ///
    /// It always ends: a subject that blocks a thread or never answers breaks the clause that finds it. If the subject does
    /// not even load (L1), nothing else is run. A clause that could not be judged, because a step failed that another clause
    /// judges, is broken itself if that other clause was kept and no other is broken.
    ///
    /// - Parameters:
    ///   - subject: the kind of service.
    ///   - clauses: those that are verified; all of them by default.
    ///   - timeLimit: how long a subject may take for one step before it counts as silent; longer on a busy machine.
    ///   - onProgress: told before and after each clause; after a crash of the subject, it has said which one was running.
    public static func verify(
        _ subject: ContractSubject,
        clauses: [ContractClause] = ServiceContract.clauses,
        timeLimit: Duration = ServiceContract.defaultTimeLimit,
        onProgress: (@Sendable (ContractProgress) -> Void)? = nil
    ) async -> ContractReport {
        // On a thread of its own, so that progress is told also when the subject blocks all those of the pool.
        let lane = Lane("contract")
        return await Task(executorPreference: lane) {
            var rows: [(ContractClause, ContractOutcome)] = []
            var leftToOthers: [(row: Int, judge: String, violation: ContractViolation)] = []
            var conditions = ClauseRun.Conditions(timeLimit: timeLimit)
            for clause in clauses {
                onProgress?(ContractProgress(subject: subject.name, clause: clause, outcome: nil))
                let (outcome, left) =
                    conditions.broken.contains("L1")
                    ? (.notJudged("L1 is broken"), nil) : await clause.judge(subject, conditions)
                if case .broken = outcome { conditions.broken.insert(clause.id) }
                if let left, let violation = left.violation {
                    leftToOthers.append((rows.count, left.clause, violation))
                }
                rows.append((clause, outcome))
                onProgress?(ContractProgress(subject: subject.name, clause: clause, outcome: outcome))
            }
            // What was left to a clause that found nothing itself is broken by nobody else: who saw it judges it.
            let kept = Set(rows.filter(\.1.isKept).map(\.0.id))
            for left in leftToOthers where conditions.broken.isEmpty && kept.contains(left.judge) {
                let clause = rows[left.row].0
                let outcome = clause.outcome(of: left.violation, by: subject)
                rows[left.row].1 = outcome
                onProgress?(ContractProgress(subject: subject.name, clause: clause, outcome: outcome))
            }
            return ContractReport(subject: subject.name, rows: rows)
        }.value
    }
}
