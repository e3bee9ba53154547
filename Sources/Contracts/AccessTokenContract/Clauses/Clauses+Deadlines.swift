import AccessTokenAdapters
import ContractHarness

extension ClauseID {
    static let t1: ClauseID = "T1"
    static let t2: ClauseID = "T2"
    static let t3: ClauseID = "T3"
    static let t4: ClauseID = "T4"
}

extension ServiceContract {
    static let tenSeconds = ClauseSetting(.deadline)

    private enum SilentLoad: String, ClauseSituation {
        case first = "the silent load is the first one"
        case afterAFailure = "the silent load follows one that failed"
        case inANewSession = "the silent load is the first one of a new session"
        case besideAFormerOne = "the silent load begins while one of a session that a sign-in ended is running"

        /// The clause that judges whether the load begins.
        var judge: ClauseID {
            switch self {
            case .first: .l1
            case .afterAFailure: .f2
            case .inANewSession, .besideAFormerOne: .s5
            }
        }

        static func all(_ features: ContractFeatures) -> [SilentLoad] {
            [.first, .afterAFailure] + (features.isSuperset(of: [.signIn, .signOut, .expiry]) ? [.inANewSession] : [])
                + (features.isSuperset(of: [.signIn, .forcedRefresh]) ? [.besideAFormerOne] : [])
        }
    }

    private enum LateAnswer: String, ClauseSituation {
        case onlyToken = "the late answer is the only token"
        case olderToken = "the late answer is a token, and a newer one is there"
        case error = "the late answer is an error, and a newer token is there"
        case olderForcedToken = "the late answer is a token of a forced load, and a newer token is there"

        static func all(_ features: ContractFeatures) -> [LateAnswer] {
            [.onlyToken, .olderToken, .error] + (features.contains(.forcedRefresh) ? [.olderForcedToken] : [])
        }
    }

    static let deadlines = [t1, t2, t3, t4]

    static let t1 = ContractClause(
        (.t1, .critical),
        "fail the waiters of a load that is silent past its deadline",
        intent: "one lost connection must not hang every request of the app until it is restarted",
        remedy: "set a timer when a load begins, cancel it at the load's end, and answer the waiters when it fires",
        needs: .loadDeadline,
        setting: tenSeconds,
        situations: SilentLoad.all
    ) { run, silentLoad in
        if silentLoad != .first {
            let earlier = try await run.call("caller of an earlier load")
            let load = try await run.firstLoad()
            await run.waitUntilTimerRuns()
            try await run.advance(by: 4)
            switch silentLoad {
            case .first: break
            case .afterAFailure:
                try await run.given(.f1) {
                    try await run.answer(load, .failed)
                    // A service may try several times.
                    try await run.failLoads(until: [earlier])
                }
            case .inANewSession:
                try await run.given(.o6) {
                    try await run.signOut()
                    try await run.signIn(run.token("S1", life: -1))
                }
            case .besideAFormerOne:
                try run.takeForGranted(.i7)
                try await run.given(.o2) { try await run.signIn(run.token("S1")) }
            }
        }
        let isForced = silentLoad == .besideAFormerOne
        let callers = try await run.calls(3, refresh: isForced)
        let loader = run.fixture.loader
        // A service may let the new session's load wait until the former one has ended.
        if silentLoad.judge == .s5, await !run.comes({ loader.loads.count > 1 }) { return }
        _ = try await run.given(silentLoad.judge) { try await run.nextLoad() }
        await run.waitUntilTimerRuns()
        await run.settle()
        try await run.advance(by: 5)
        if !run.conditions.broken.contains(.s1) {
            // Nobody waits longer because somebody else joins later.
            try await run.call("late joiner", refresh: isForced)
            await run.settle()
        }
        try await run.advance(by: 4)
        await run.settle()
        for caller in callers { try run.expectWaiting(caller) }
        try await run.advance(by: 2)
        for caller in callers { try await run.expectFailure(caller) }
    }

    static let t2 = ContractClause(
        (.t2, .critical),
        "adopt a late good answer of the same session when nothing newer is there, and only then",
        intent: "after a rotation the late answer may be the only good one that there will ever be",
        remedy: "keep listening to a load whose waiters have failed, and cache its token if none is newer",
        needs: [.loadDeadline, .currentToken],
        setting: tenSeconds,
        situations: LateAnswer.all
    ) { run, lateAnswer in
        let (late, newer) = (run.token("late T"), run.token("newer T"))
        let (_, load) = try await loadTimesOut(run, refresh: lateAnswer == .olderForcedToken)
        if lateAnswer != .onlyToken {
            try run.takeForGranted(.c1)
            try await run.given(.t3) { try await run.expect(run.call("next caller"), getsLoaded: newer) }
        }
        try await run.answer(load, lateAnswer == .error ? .failed : .success(late))
        guard lateAnswer == .onlyToken else {
            await run.settle()
            return try await run.expect(run.call("caller after the late answer"), getsCached: newer)
        }
        let isAdopted = try await run.poll { try await run.currentToken()?.value == late.value }
        try run.expect(isAdopted, "the late T to be the current token", observed: "it is not")
        guard run.features.contains(.expiry), !run.conditions.broken.contains(.c6) else { return }
        try await run.end(late, by: .expiry)
        let caller = try await run.call("caller after the late T's expiration")
        try await run.waitForAnswerOrLoad(caller)
        let isGone = caller.answers.first?.token?.value != late.value
        try run.expect(isGone, "the late T not to be handed out any more", observed: "\(caller.name) gets it")
    }

    static let t3 = ContractClause(
        (.t3, .critical),
        "let the next call load again after a load was silent past its deadline",
        intent: "callers that join a load that will never end fail with it, one after the other",
        remedy: "forget the load when its deadline has passed",
        needs: .loadDeadline
    ) { run in
        try await run.play(Script(.deadline, [.call, .pass(.elevenSeconds), .call, .answer(.token)]))
    }

    static let t4 = ContractClause(
        (.t4, .minor),
        "fail the waiters of a silent load with loadTimedOut",
        intent: "a silent server is worth another try, and a refused credential is not",
        remedy: "give the deadline an error of its own, and tell the suite by errors: which it is",
        isConvention: true,
        needs: .loadDeadline,
        setting: tenSeconds
    ) { run in
        let (caller, _) = try await loadTimesOut(run)
        try await run.expect(caller, fails: AccessTokenError.loadTimedOut)
    }

    /// A load whose waiter has failed, since it was silent past the deadline.
    static func loadTimesOut(
        _ run: ClauseRun,
        refresh: Bool = false
    ) async throws -> (waiter: Caller, load: ControlledLoad) {
        try await run.given(.t1) {
            let caller = try await run.call(refresh: refresh)
            let load = try await run.nextLoad()
            await run.waitUntilTimerRuns()
            try await run.advance(by: 11)
            try await run.expectFailure(caller)
            return (caller, load)
        }
    }
}
