import ContractHarness

extension Script {
    /// A script that begins with a cached token.
    init(_ setting: Setting, from origin: ClauseRun.TokenOrigin, _ steps: [Step]) {
        switch origin {
        case .load: self.init(setting, [.call, .answer(.token)] + steps)
        case .signIn: self.init(setting, [.signIn(.valid)] + steps)
        case .initial: self.init(setting, initialToken: .valid, steps)
        }
    }
}

extension ClauseRun {
    /// Plays a script on a new service of the subject, for a situation of which the script says all.
    ///
    /// What the script breaks, it has to break three times, each on a new service: on a busy machine a thread of the
    /// subject may have stopped where all seems to be at rest. A fault of another clause leaves the situation unjudged.
    func play(_ script: Script) async throws {
        guard script.isPossible(for: features) else { return }
        log.happened("\(script)")
        var shown: ContractViolation?
        for effort in ScriptEffort.accusation(conditions.timeLimit, onSilence: conditions.onSilence) {
            let tolerated = conditions.broken.subtracting([context.wording.id])
            let outcome = await script.played(on: subject, effort, tolerating: tolerated)
            if outcome.isSlow { throw conditions.isPatient ? tooSlow : SlowSubject() }
            shown = outcome.violation
            if shown == nil, let judge = outcome.spoiledBy { throw NotJudged(judge: judge, violation: nil) }
            if shown == nil { return }
        }
        guard let shown else { return }
        let violation = ContractViolation(
            clause: shown.clause,
            expected: shown.expected,
            observed: shown.observed,
            situation: context.situation,
            replay: shown.script,
            trace: shown.trace
        )
        guard violation.clause.id != context.wording.id else { throw violation }
        try await given(violation.clause.id) { throw violation }
    }
}
