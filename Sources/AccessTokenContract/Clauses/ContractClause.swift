import AccessTokenAdapters

/// One clause of the contract: what a subject must do, why, and the scenario that shows whether it does.
public struct ContractClause: Sendable, Identifiable {
    /// The clause's id, such as `S1`.
    public let id: String

    /// What the subject MUST do.
    public let must: String

    /// Why: what happens to users of a service that does not.
    public let intent: String

    /// The features without which the clause is skipped.
    public let needs: ContractFeatures

    let policy: AccessTokenPolicy
    let file: String
    let line: Int
    let scenario: @Sendable (Trial) async throws -> Void

    init(
        _ id: String,
        _ must: String,
        intent: String,
        needs: ContractFeatures = [],
        policy: AccessTokenPolicy = AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: nil),
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (Trial) async throws -> Void
    ) {
        self.id = id
        self.must = must
        self.intent = intent
        self.needs = needs
        self.policy = policy
        self.file = file
        self.line = line
        self.scenario = scenario
    }

    /// Runs the clause's scenario on a new service of the subject.
    ///
    /// **Concurrency** Scenarios share nothing, so that clauses and subjects can be verified in parallel. Nothing waits
    /// for a time: `patience` only ends a wait that a broken subject would make endless.
    ///
    /// - Parameters:
    ///   - subject: the kind of service.
    ///   - patience: how long a subject may take for one step before it counts as silent.
    /// - Returns: whether the clause was run, or skipped because the subject lacks a feature.
    /// - Throws: ``ContractViolation`` if the subject breaks the clause.
    @discardableResult
    public func verify(
        _ subject: ContractSubject,
        patience: Duration = .seconds(30)
    ) async throws -> ContractOutcome {
        guard subject.features.isSuperset(of: needs) else {
            return .skipped(missing: needs.subtracting(subject.features))
        }
        let trial = Trial(clause: self, subject: subject, patience: patience)
        try trial.expectAllThatIsDeclared()
        try await scenario(trial)
        return .kept
    }
}

extension ContractClause: CustomStringConvertible {
    /// The id and what the subject must do.
    public var description: String { "\(id): \(must)" }
}
