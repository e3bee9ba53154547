/// What every service of this package does, clause by clause, as something that can be run on any service.
///
/// ```swift
/// let report = await AccessTokenContract.verify(subject)
/// print(report)
/// ```
///
/// It imports no test framework; a host of a few lines runs it from XCTest or Swift Testing.
public enum AccessTokenContract {
    /// All clauses, in the order of their ids' letters: caching, single flight, failure, invalidation, sessions,
    /// cancellation, delivery, deadlines, re-entrance.
    public static let clauses: [ContractClause] =
        caching + singleFlight + failure + invalidation + sessions + cancellation + delivery + deadlines + reentrance

    /// Verifies all clauses that the subject's features select, one after the other.
    ///
    /// - Parameters:
    ///   - subject: the kind of service.
    ///   - patience: how long a subject may take for one step before it counts as silent.
    public static func verify(
        _ subject: ContractSubject,
        patience: Duration = .seconds(30)
    ) async -> ContractReport {
        var rows: [(ContractClause, ContractOutcome)] = []
        for clause in clauses {
            do {
                rows.append((clause, try await clause.verify(subject, patience: patience)))
            } catch let violation as ContractViolation {
                rows.append((clause, .broken(violation)))
            } catch {
                // Scenarios throw nothing else.
                preconditionFailure("\(clause.id) threw \(error)")
            }
        }
        return ContractReport(subject: subject.name, rows: rows)
    }
}
