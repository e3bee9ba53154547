import Foundation

/// Judges clauses in their order, each in the light of what those before it have found.
///
/// A subject that leaves callers without an answer is waited for in clause after clause. So the next clause begins as
/// soon as one has come to a silence, as if the silence did not end. If it does, all that has begun behind it begins
/// anew: the verdict is the one of clauses that wait for each other. A clause that runs alone waits for all before it,
/// and all behind it wait for it.
struct ClauseSequence<Subject: VerifiedSubject>: Sendable {
    let subject: Subject
    /// If this clause is broken, no other is run.
    let essential: ClauseID
    let timeLimit: TimeInterval
    let onProgress: (@Sendable (ContractProgress) -> Void)?

    private struct BegunClause {
        let clause: Clause<Subject>
        /// The clauses that were known or presumed to be broken.
        let broken: Set<ClauseID>
        let judging: Begun<Judgement>

        /// The clause, if it is broken or presumed to be.
        var brokenID: ClauseID? {
            guard let judgement = judging.outcome else { return judging.accusedID }
            return judgement.isBroken ? clause.wording.id : nil
        }
    }

    /// Judges the clauses, and adds those that are broken to the ones that the subject is known to break.
    func judge(_ clauses: [Clause<Subject>], _ broken: inout Set<ClauseID>) async -> [Judgement] {
        var judgements: [Judgement] = []
        // In their order; all but the last one have come to a silence.
        var begun: [BegunClause] = []
        var abandoned: [BegunClause] = []
        while judgements.count < clauses.count {
            let next = judgements.count + begun.count
            if next < clauses.count, begun.first?.judging.outcome == nil, mayBegin(clauses[next], beside: begun) {
                if clauses[next].runsAlone { await end(&abandoned) }
                begun.append(await begin(clauses[next], broken.union(begun.compactMap(\.brokenID))))
                continue
            }
            let first = begun.removeFirst()
            let judgement = await first.judging.end
            judgements.append(judgement)
            if judgement.isBroken { broken.insert(first.clause.wording.id) }
            tell(first.clause, judgement.outcome)
            if let second = begun.first, second.broken != broken {
                abandoned += begun
                begun = []
            }
        }
        // No code of the subject runs when the verification has ended.
        await end(&abandoned)
        return judgements
    }

    private func end(_ abandoned: inout [BegunClause]) async {
        for clause in abandoned { _ = await clause.judging.end }
        abandoned = []
    }

    private func mayBegin(_ clause: Clause<Subject>, beside begun: [BegunClause]) -> Bool {
        begun.isEmpty || !clause.runsAlone && !begun.contains { $0.clause.runsAlone }
    }

    func tell(_ clause: Clause<Subject>, _ outcome: ContractOutcome?) {
        onProgress?(ContractProgress(subject: subject.name, clause: clause.wording, outcome: outcome))
    }

    private func begin(_ clause: Clause<Subject>, _ broken: Set<ClauseID>) async -> BegunClause {
        let isHopeless = broken.contains(essential)
        if !isHopeless, clause.reasonToSkip(subject) == nil { tell(clause, nil) }
        let judging = await Begun("clause") { onSilence in
            if isHopeless { return Judgement.hopeless(essential) }
            var conditions = RunConditions(timeLimit: timeLimit)
            conditions.broken = broken
            conditions.onSilence = { onSilence($0 == clause.wording.id && clause.isDefect(for: subject) ? $0 : nil) }
            return await clause.judge(subject, conditions)
        }
        return BegunClause(clause: clause, broken: broken, judging: judging)
    }
}
