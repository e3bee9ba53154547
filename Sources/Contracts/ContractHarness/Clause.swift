/// One sentence about subjects of a kind, with the scenario that shows whether a subject keeps it.
///
/// A scenario judges the clause's sentence alone. If another step of the scenario fails, the situation says nothing.
/// A situation that fails by a known fault is left out; a clause of which no situation is left is not judged.
@dynamicMemberLookup
public struct Clause<Subject: Sendable>: Sendable, Identifiable, CustomStringConvertible {
    /// What the clause says.
    public let wording: ClauseWording

    /// Why the clause is not asked of a subject; `nil` if it is.
    package let reasonToSkip: @Sendable (Subject) -> String?
    /// Whether the clause does something to the subject that clauses beside it would notice.
    let runsAlone: Bool
    /// Returns the situations that were left out, if there were others.
    let run: @Sendable (Subject, RunConditions) async throws -> [LeftOutSituation]

    /// The clause's id, such as `S1`.
    public var id: ClauseID { wording.id }

    /// The id and what the subject must do.
    public var description: String { wording.description }

    /// What the clause says: its severity, its sentence, the reasons.
    public subscript<Value>(dynamicMember part: KeyPath<ClauseWording, Value>) -> Value { wording[keyPath: part] }
}

/// The situation of a clause that has one: reports do not name it.
private struct OnlySituation: ClauseSituation {
    let name = ""
}

extension Clause where Subject: VerifiedSubject {
    /// A clause that is tried in one situation.
    ///
    /// - Parameters:
    ///   - needs: the features without which the clause is skipped.
    ///   - skips: why the clause is not asked of a subject that has declared all features that the clause needs.
    ///   - runsAlone: whether the clause does something to the subject that clauses beside it would notice.
    ///   - setting: what the clause asks the fixture to be.
    package init(
        _ head: (id: ClauseID, severity: ContractSeverity),
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String? = nil,
        unseen: String? = nil,
        isConvention: Bool = false,
        needs: Subject.Features = [],
        skips: @escaping @Sendable (Subject) -> String? = { _ in nil },
        runsAlone: Bool = false,
        setting: Subject.Run.Setting = Subject.Run.usualSetting,
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (Subject.Run) async throws -> Void
    ) {
        self.init(
            head,
            must,
            intent: intent,
            remedy: remedy,
            resembles: resembles,
            unseen: unseen,
            isConvention: isConvention,
            needs: needs,
            skips: skips,
            runsAlone: runsAlone,
            setting: setting,
            situations: { _ in [OnlySituation()] },
            file: file,
            line: line,
            scenario: { run, _ in try await scenario(run) }
        )
    }

    /// A clause that is tried in several situations, each on a new service or store.
    ///
    /// - Parameters:
    ///   - needs: the features without which the clause is skipped.
    ///   - skips: why the clause is not asked of a subject that has declared all features that the clause needs.
    ///   - runsAlone: whether the clause does something to the subject that clauses beside it would notice.
    ///   - setting: what the clause asks the fixture to be.
    ///   - situations: those of a subject with such features; what threads do by chance stands there several times.
    package init<Situation: ClauseSituation>(
        _ head: (id: ClauseID, severity: ContractSeverity),
        _ must: String,
        intent: String,
        remedy: String,
        resembles: String? = nil,
        unseen: String? = nil,
        isConvention: Bool = false,
        needs: Subject.Features = [],
        skips: @escaping @Sendable (Subject) -> String? = { _ in nil },
        runsAlone: Bool = false,
        setting: Subject.Run.Setting = Subject.Run.usualSetting,
        situations: @escaping @Sendable (Subject.Features) -> [Situation],
        file: String = #fileID,
        line: Int = #line,
        scenario: @escaping @Sendable (Subject.Run, Situation) async throws -> Void
    ) {
        let wording = ClauseWording(
            id: head.id,
            severity: head.severity,
            must: must,
            intent: intent,
            remedy: remedy,
            resembles: resembles,
            unseen: unseen,
            isConvention: isConvention,
            file: file,
            line: line
        )
        self.wording = wording
        self.runsAlone = runsAlone
        reasonToSkip = { subject in
            let missing = needs.subtracting(subject.features)
            return missing.isEmpty ? skips(subject) : "not declared: \(missing)"
        }
        run = { subject, conditions in
            let situations = situations(subject.features)
            var begun: [Begun<Result<LeftOutSituation?, any Error>>] = []
            for situation in situations {
                let next = await Begun("situation") { goesOn in
                    var own = conditions
                    own.onSilence = { accused in
                        // It will leave out this situation, or end the clause.
                        let isLeftOut = accused.map { $0 != wording.id && conditions.broken.contains($0) } ?? true
                        if isLeftOut { goesOn(accused) } else { conditions.onSilence?(accused) }
                    }
                    let context = RunContext(
                        wording: wording,
                        subject: subject,
                        situation: situations.count > 1 ? situation.name : nil,
                        conditions: own
                    )
                    return await Self.attempt(context, setting) { try await scenario($0, situation) }
                }
                begun.append(next)
                if case .failure = next.outcome { break }
            }
            if begun.contains(where: { $0.outcome == nil }) { conditions.onSilence?(nil) }
            var endings: [Result<LeftOutSituation?, any Error>] = []
            for situation in begun { endings.append(await situation.end) }
            let leftOut = try endings.compactMap { try $0.get() }
            // Known already: there is no reason to try the clause again.
            if let first = leftOut.first, leftOut.count == situations.count {
                throw NotJudged(judge: first.brokenID, violation: nil)
            }
            return leftOut
        }
    }

    /// Tries the clause in a situation; the situation is returned if it says nothing.
    private static func attempt(
        _ context: RunContext<Subject>,
        _ setting: Subject.Run.Setting,
        _ scenario: (Subject.Run) async throws -> Void
    ) async -> Result<LeftOutSituation?, any Error> {
        let run = Subject.Run(context, setting)
        defer { run.end() }
        do {
            try await run.begin()
            do { try await scenario(run) } catch let violation as ContractViolation { throw run.excuse(violation) }
            return .success(nil)
        } catch is Excused {
            return .success(nil)
        } catch let left as NotJudged where context.conditions.broken.contains(left.judge) {
            return .success(LeftOutSituation(context, left))
        } catch {
            return .failure(error)
        }
    }
}
