import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness

/// Finds out what a script that broke a clause in haste says of a subject, and the shortest script that says it.
struct ScriptLook: Sendable {
    enum Verdict {
        /// - Parameter isSilent: a caller was waited for as long as a slow subject may take, and got no answer.
        case confirmed(ContractViolation, isSilent: Bool)
        /// A shorter script shows a clause that the subject is known to break.
        case explained
        case unconfirmed
        case slow

        /// Whether more is known of the subject than before.
        var isNew: Bool {
            switch self {
            case .confirmed, .slow: true
            case .explained, .unconfirmed: false
            }
        }
    }

    /// A silent script takes a time limit for each try, and threads that are blocked stay so.
    private static let mostTries = 100
    private static let mostSilentTries = 24
    private static let mostBlockedTries = 6
    /// Good users of a bad service must not be told less than this because something smaller is broken as well.
    static let neverExplained: Set<ClauseID> = [.o1, .o2, .o3]

    let subject: ContractSubject
    let timeLimit: Double
    let tolerated: Set<ClauseID>
    let unasked: Set<ClauseID>
    let isKnownToBeSilent: Bool
    let notes: ScriptNotes

    func verdict(on script: Script) async -> Verdict {
        let effort = isKnownToBeSilent ? ScriptEffort.again(timeLimit) : .patient(timeLimit)
        let first = await played(script, effort, tolerated)
        if first.isSlow { return .slow }
        guard first.clause != nil else { return .unconfirmed }
        let shortest = await shortest(of: first.script, tolerated) { _ in true }
        for candidate in [shortest, first.script] {
            guard let shown = await confirmed(candidate, tolerated, first.wasSilent) else { continue }
            if await isExplained(shown, candidate, first.wasSilent) { return .explained }
            return .confirmed(shown, isSilent: first.wasSilent)
        }
        return .unconfirmed
    }

    /// What the script shows twice more; at the same time, if all that takes time is to wait for a silent subject.
    private func confirmed(
        _ script: Script,
        _ tolerated: Set<ClauseID>,
        _ isSilent: Bool
    ) async -> ContractViolation? {
        async let second = isSilent ? played(script, .again(timeLimit), tolerated).violation : nil
        guard let one = await played(script, .again(timeLimit), tolerated).violation else { return nil }
        let other = isSilent ? await second : await played(script, .again(timeLimit), tolerated).violation
        return one.clause.id == other?.clause.id ? other : nil
    }

    /// Whether steps of the script alone show a fault that is known, and is not smaller: then this one comes from it.
    private func isExplained(_ violation: ContractViolation, _ script: Script, _ isSilent: Bool) async -> Bool {
        let clause = violation.clause
        let known = tolerated.subtracting(unasked).subtracting(Specification.leavingNothingBehind)
        guard !Self.neverExplained.contains(clause.id), !known.isEmpty else { return false }
        let severities = Dictionary(uniqueKeysWithValues: ServiceContract.clauses.map { ($0.id, $0.severity) })
        let greater = known.filter { severities[$0].map { $0 >= clause.severity } ?? false }
        let others = tolerated.subtracting(greater)
        let shorter = await shortest(of: script, others) { _ in true }
        guard shorter.steps.count < script.steps.count, let shown = await confirmed(shorter, others, isSilent) else {
            return false
        }
        return greater.contains(shown.clause.id)
    }

    private func shortest(
        of script: Script,
        _ tolerated: Set<ClauseID>,
        showing isWanted: @escaping @Sendable (ClauseID) -> Bool
    ) async -> Script {
        let tries = Locked((all: 0, silent: 0, blocked: 0))
        return await script.shortened { shorter in
            let (all, silent, blocked) = tries.withLock { tries in
                tries.all += 1
                return tries
            }
            guard all <= Self.mostTries, silent < Self.mostSilentTries, blocked < Self.mostBlockedTries else {
                return false
            }
            let outcome = await played(shorter, .hasty, tolerated)
            tries.withLock { tries in
                if outcome.wasSilent { tries.silent += 1 }
                if outcome.isBlocked { tries.blocked += 1 }
            }
            return outcome.clause.map(isWanted) ?? false
        }
    }

    private func played(_ script: Script, _ effort: ScriptEffort, _ tolerated: Set<ClauseID>) async -> ScriptOutcome {
        await script.played(on: subject, effort, tolerating: tolerated, notes: notes)
    }
}
