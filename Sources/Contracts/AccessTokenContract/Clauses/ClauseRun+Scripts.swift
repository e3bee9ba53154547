extension ClauseRun {
    /// Plays scripts, each on a new service of the subject, for a clause of which a script says all.
    ///
    /// A fault of another clause leaves this one unjudged.
    func play(_ scripts: [Script]) async throws {
        for script in scripts where script.isPossible(for: features) {
            let outcome = await script.played(
                on: subject,
                .patient(conditions.timeLimit),
                tolerating: conditions.broken.subtracting([context.wording.id])
            )
            if outcome.isSlow { throw conditions.isPatient ? tooSlow : SlowSubject() }
            if let judge = outcome.spoiledBy { throw NotJudged(judge: judge, violation: nil) }
            guard let violation = outcome.violation else { continue }
            guard violation.clause.id != context.wording.id else { throw violation }
            try await given(violation.clause.id) { throw violation }
        }
    }
}
