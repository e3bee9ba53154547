import ContractHarness
extension ClauseRun {
    /// Plays a script on a new service of the subject, for a situation of which the script says all.
    ///
    /// A fault of another clause leaves the situation unjudged.
    func play(_ script: Script) async throws {
        guard script.isPossible(for: features) else { return }
        log.happened("\(script)")
        let outcome = await script.played(
            on: subject,
            .patient(conditions.timeLimit),
            tolerating: conditions.broken.subtracting([context.wording.id])
        )
        if outcome.isSlow { throw conditions.isPatient ? tooSlow : SlowSubject() }
        if let judge = outcome.spoiledBy { throw NotJudged(judge: judge, violation: nil) }
        guard let violation = outcome.violation else { return }
        guard violation.clause.id != context.wording.id else { throw violation }
        try await given(violation.clause.id) { throw violation }
    }
}
