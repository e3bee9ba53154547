/// How one clause went on one subject.
public enum ContractOutcome: Sendable {
    /// The scenario was run and showed nothing wrong.
    case kept
    /// The scenario was not run, since the subject lacks features that it needs.
    case skipped(missing: ContractFeatures)
    /// The subject broke the clause.
    case broken(ContractViolation)
}
