public import AccessTokenContract
import Foundation

/// One clause of the contract for stores: what a store must do, why, and the scenario that shows whether it does.
public struct StoreClause: Sendable, Identifiable {
    /// What reports say of the clause: its id, its sentence, its severity.
    public let wording: ContractClause

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
        wording = ContractClause(
            wording: id,
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

    /// Runs the clause's scenario on a store of the subject in a new place.
    ///
    /// **Concurrency** Scenarios share nothing, so that clauses and subjects can be verified in parallel.
    ///
    /// - Parameters:
    ///   - subject: the kind of store.
    ///   - timeLimit: how long a subject may take for one step before it counts as silent; longer on a busy machine.
    public func verify(
        _ subject: StoreSubject,
        timeLimit: Duration = StoreContract.defaultTimeLimit
    ) async -> ContractOutcome {
        guard subject.features.isSuperset(of: needs) else {
            return .skipped("needs \(needs.subtracting(subject.features))")
        }
        let lane = Lane("scenario")
        return await Task(executorPreference: lane) {
            let run = StoreRun(clause: self, subject: subject, timeLimit: timeLimit)
            defer { run.end() }
            do {
                try run.checkPromises()
                try await scenario(run)
                return .kept
            } catch let violation as ContractViolation {
                let isDefect = !wording.isConvention || subject.promises.contains(id)
                return isDefect ? .broken(violation) : .advised(violation)
            } catch {
                // Scenarios throw nothing else.
                preconditionFailure("\(id) threw \(error)")
            }
        }.value
    }
}

extension StoreClause: CustomStringConvertible {
    /// The id and what the store must do.
    public var description: String { wording.description }
}
