public import ContractHarness
public import Foundation

/// One sentence about services, with the scenario that shows whether a subject keeps it.
public typealias ContractClause = Clause<ContractSubject>

extension Clause where Subject == ContractSubject {
    /// Runs the clause's scenario on a new service of the subject.
    ///
    /// **Concurrency** Scenarios share nothing, so clauses and subjects can be verified in parallel. The suite calls
    /// the subject on threads of its own, and ends also if the subject blocks them for ever.
    ///
    /// A subject may take `timeLimit` seconds for one step; give it more on a busy machine.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func verify(
        _ subject: ContractSubject,
        timeLimit: TimeInterval = 1
    ) async -> ContractOutcome {
        await judge(subject, RunConditions(timeLimit: timeLimit)).outcome
    }
}
