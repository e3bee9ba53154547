import AccessTokenAdapters
public import Foundation

/// One sentence about services, with the scenario that shows whether a subject keeps it.
///
/// A scenario judges the clause's sentence alone. If another step of the scenario fails, the clause is not judged.
@dynamicMemberLookup
public struct ContractClause: Sendable, Identifiable {
    /// What the clause says.
    public let wording: ClauseWording

    /// The features without which the clause is skipped.
    public let needs: ContractFeatures

    let policy: AccessTokenPolicy
    /// Why the clause is not asked of a subject that has declared all features that the clause needs.
    let skips: @Sendable (ContractSubject) -> String?
    /// In how many rounds a subject with such features is tried, each on a new service.
    let rounds: @Sendable (ContractFeatures) -> Int
    let scenario: @Sendable (ClauseRun) async throws -> Void

    init(
        _ id: String,
        _ severity: ContractSeverity,
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String? = nil,
        isConvention: Bool = false,
        needs: ContractFeatures = [],
        skips: @escaping @Sendable (ContractSubject) -> String? = { _ in nil },
        policy: AccessTokenPolicy = AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: nil),
        rounds: @escaping @Sendable (ContractFeatures) -> Int = { _ in 1 },
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (ClauseRun) async throws -> Void
    ) {
        wording = ClauseWording(
            id,
            severity,
            must,
            intent: intent,
            remedy: remedy,
            resembles: resembles,
            isConvention: isConvention,
            file: file,
            line: line
        )
        self.needs = needs
        self.skips = skips
        self.policy = policy
        self.rounds = rounds
        self.scenario = scenario
    }

    /// The clause's id, such as `S1`.
    public var id: String { wording.id }

    /// What the clause says: its severity, its sentence, the reasons.
    public subscript<Value>(dynamicMember part: KeyPath<ClauseWording, Value>) -> Value { wording[keyPath: part] }

    /// Runs the clause's scenario on a new service of the subject.
    ///
    /// **Concurrency** Scenarios share nothing, so clauses and subjects can be verified in parallel. A scenario waits
    /// for events, never for time; the time limit only ends a wait that a broken subject would make endless. The
    /// suite calls the subject on threads of its own, and ends also if the subject blocks them for ever.
    ///
    /// - Parameters:
    ///   - subject: the kind of service.
    ///   - timeLimit: how many seconds a subject may take for one step; more on a busy machine.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public func verify(
        _ subject: ContractSubject,
        timeLimit: TimeInterval = ServiceContract.defaultTimeLimit
    ) async -> ContractOutcome {
        await judge(subject, RunConditions(timeLimit: timeLimit)).outcome
    }
}

extension ContractClause: VerifiedClause {
    package func reasonToSkip(_ subject: ContractSubject) -> String? {
        let missing = needs.subtracting(subject.features)
        return missing.isEmpty ? skips(subject) : "not declared: \(missing)"
    }

    package func run(on subject: ContractSubject, _ conditions: RunConditions) async throws {
        for round in 0..<rounds(subject.features) {
            let run = ClauseRun(clause: self, subject: subject, round: round, conditions: conditions)
            defer { run.end() }
            do {
                try await run.begin()
                try await scenario(run)
            } catch is ClauseRun.RoundSkipped {
                continue
            }
        }
    }
}

extension ContractClause: CustomStringConvertible {
    /// The id and what the subject must do.
    public var description: String { wording.description }
}
