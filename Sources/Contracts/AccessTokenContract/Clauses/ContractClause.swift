import AccessTokenAdapters

/// One clause of the contract: what a subject must do, why, and the scenario that shows whether it does.
///
/// A clause judges one expectation. What its scenario merely needs is taken for granted: where that does not hold,
/// another clause is broken, and this one is not judged.
public struct ContractClause: Sendable, Identifiable {
    /// The clause's id, such as `S1`.
    public let id: String

    /// What the subject MUST do, or SHOULD if the clause is a convention.
    public let must: String

    /// What happens to users of a service that does not: the reason for the severity.
    public let intent: String

    /// How bad it is to break the clause.
    public let severity: ContractSeverity

    /// Good services differ in this: breaking it is advice, unless the subject promises it.
    public let isConvention: Bool

    /// The features without which the clause is skipped.
    public let needs: ContractFeatures

    /// A published bug of this kind, if there is a known one.
    public let resembles: String?

    /// What usually mends a service that breaks the clause.
    public let remedy: String

    let policy: AccessTokenPolicy
    let isJudgedOnlyIfPromised: Bool
    /// In how many rounds a subject with such features is tried, each on a new service.
    let rounds: @Sendable (ContractFeatures) -> Int
    package let file: String
    package let line: Int
    let scenario: @Sendable (ClauseRun) async throws -> Void

    init(
        _ id: String,
        _ severity: ContractSeverity,
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String? = nil,
        isConvention: Bool = false,
        isJudgedOnlyIfPromised: Bool = false,
        needs: ContractFeatures = [],
        policy: AccessTokenPolicy = AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: nil),
        rounds: @escaping @Sendable (ContractFeatures) -> Int = { _ in 1 },
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (ClauseRun) async throws -> Void
    ) {
        self.id = id
        self.severity = severity
        self.must = must
        self.intent = intent
        self.remedy = remedy
        self.resembles = resembles
        self.isConvention = isConvention
        self.isJudgedOnlyIfPromised = isJudgedOnlyIfPromised
        self.needs = needs
        self.policy = policy
        self.rounds = rounds
        self.file = file
        self.line = line
        self.scenario = scenario
    }

    /// Creates a clause of another contract of this package, which has scenarios and subjects of its own.
    package init(
        wording id: String,
        _ severity: ContractSeverity,
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String?,
        isConvention: Bool,
        file: String,
        line: Int
    ) {
        self.init(
            id,
            severity,
            must,
            intent: intent,
            remedy: remedy,
            resembles: resembles,
            isConvention: isConvention,
            file: file,
            line: line
        ) { _ in throw ClauseRun.Skipped(reason: "is no clause for services") }
    }

    /// Runs the clause's scenario on a new service of the subject.
    ///
    /// **Concurrency** Scenarios share nothing, so that clauses and subjects can be verified in parallel. A scenario waits
    /// for events, never for time; the time limit only ends a wait that a broken subject would make endless. The
    /// subject is called on threads of its own, so that it ends also if the subject blocks them for ever.
    ///
    /// - Parameters:
    ///   - subject: the kind of service.
    ///   - timeLimit: how long a subject may take for one step before it counts as silent; longer on a busy machine.
    public func verify(
        _ subject: ContractSubject,
        timeLimit: Duration = ServiceContract.defaultTimeLimit
    ) async -> ContractOutcome {
        await judge(subject, ClauseRun.Conditions(timeLimit: timeLimit)).outcome
    }

    /// How the clause went; and if something was seen that another clause is to judge, what it was.
    func judge(
        _ subject: ContractSubject,
        _ conditions: ClauseRun.Conditions
    ) async -> (outcome: ContractOutcome, leftToAnother: ClauseRun.NotJudged?) {
        guard subject.features.isSuperset(of: needs) else {
            return (.skipped("needs \(needs.subtracting(subject.features))"), nil)
        }
        guard !isJudgedOnlyIfPromised || subject.promises.contains(id) else { return (.skipped("not promised"), nil) }
        let lane = Lane("scenario")
        return await Task(executorPreference: lane) {
            for round in 0..<rounds(subject.features) {
                let run = ClauseRun(clause: self, subject: subject, round: round, conditions: conditions)
                defer { run.end() }
                do {
                    try await run.begin()
                    try await scenario(run)
                } catch let violation as ContractViolation {
                    return (outcome(of: violation, by: subject), nil)
                } catch is ClauseRun.RoundSkipped {
                    continue
                } catch let skipped as ClauseRun.Skipped {
                    return (.skipped(skipped.reason), nil)
                } catch let notJudged as ClauseRun.NotJudged {
                    return (.notJudged(notJudged.reason), notJudged)
                } catch {
                    // Scenarios throw nothing else.
                    preconditionFailure("\(id) threw \(error)")
                }
            }
            return (.kept, nil)
        }.value
    }

    func outcome(of violation: ContractViolation, by subject: ContractSubject) -> ContractOutcome {
        !isConvention || subject.promises.contains(id) ? .broken(violation) : .advised(violation)
    }
}

extension ClauseRun.NotJudged {
    fileprivate var reason: String {
        guard let violation else { return "\(clause) is broken" }
        return "\(clause) is taken for granted; expected: \(violation.expected); observed: \(violation.observed)"
    }
}

extension ContractClause: CustomStringConvertible {
    /// The id and what the subject must do.
    public var description: String { "\(id): \(must)" }
}

/// How bad it is to break a clause.
public enum ContractSeverity: String, Sendable, Comparable, CaseIterable {
    /// Somebody is surprised, and nothing is lost.
    case minor
    /// Requests fail or are slow without need, or the server is asked without need.
    case serious
    /// Somebody is signed out, acts for another user, or waits for ever.
    case critical

    /// By how bad it is.
    public static func < (one: ContractSeverity, other: ContractSeverity) -> Bool {
        let order: [ContractSeverity] = [.minor, .serious, .critical]
        return (order.firstIndex(of: one) ?? 0) < (order.firstIndex(of: other) ?? 0)
    }
}
