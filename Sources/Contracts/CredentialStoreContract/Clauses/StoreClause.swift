public import AccessTokenContract
import Foundation

/// One sentence about credential stores, with the scenario that shows whether a subject keeps it.
@dynamicMemberLookup
public struct StoreClause: Sendable, Identifiable {
    /// What the clause says.
    public let wording: ClauseWording

    /// The features without which the clause is skipped.
    public let needs: StoreFeatures

    /// Seconds after which an update that waits is to be told that the store is busy.
    let waitLimit: TimeInterval
    let scenario: @Sendable (StoreRun) async throws -> Void

    init(
        _ id: String,
        _ severity: ContractSeverity,
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String? = nil,
        isConvention: Bool = false,
        needs: StoreFeatures = [],
        waitLimit: TimeInterval = 60,
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (StoreRun) async throws -> Void
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
        self.waitLimit = waitLimit
        self.scenario = scenario
    }

    /// The clause's id, such as `E1`.
    public var id: String { wording.id }

    /// What the clause says: its severity, its sentence, the reasons.
    public subscript<Value>(dynamicMember part: KeyPath<ClauseWording, Value>) -> Value { wording[keyPath: part] }
}

extension StoreClause: VerifiedClause {
    package func reasonToSkip(_ subject: StoreSubject) -> String? {
        let missing = needs.subtracting(subject.features)
        return missing.isEmpty ? nil : "not declared: \(missing)"
    }

    package func run(on subject: StoreSubject, _ conditions: RunConditions) async throws {
        let run = StoreRun(clause: self, subject: subject, conditions: conditions)
        defer { run.end() }
        try run.check(subject.promises, areAmong: StoreContract.conventions)
        try await scenario(run)
    }
}
