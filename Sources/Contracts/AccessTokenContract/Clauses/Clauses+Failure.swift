import AccessTokenAdapters
import ContractHarness

extension ClauseID {
    static let f1: ClauseID = "F1"
    static let f2: ClauseID = "F2"
    static let f3: ClauseID = "F3"
    static let f4: ClauseID = "F4"
    static let f5: ClauseID = "F5"
    static let f6: ClauseID = "F6"
}

extension ServiceContract {
    private enum Waiters: String, ClauseSituation {
        case one = "a caller waits alone"
        case three = "after a caller alone, three callers wait together"
        case oneForExpiredTokens = "a caller waits alone, and each load brings a token that has expired"

        static func all(_ features: ContractFeatures) -> [Waiters] {
            [.one, .three] + (features.contains(.expiry) ? [.oneForExpiredTokens] : [])
        }
    }

    private struct FailingLoad: ClauseSituation {
        let load: ClauseRun.AwaitedLoad
        let kind: ContractLoadError.Kind

        var name: String { load.name + (kind == .permanent ? ", and is refused for good" : "") }

        static func all(_ features: ContractFeatures) -> [FailingLoad] {
            let loads = ClauseRun.AwaitedLoad.all(features)
            // F5 lets the first load be refused for good.
            return loads.map { FailingLoad(load: $0, kind: .transient) }
                + loads.dropFirst().map { FailingLoad(load: $0, kind: .permanent) }
        }
    }

    static let failure = [f1, f2, f3, f4, f5, f6]

    static let f1 = ContractClause(
        (.f1, .critical),
        "give a load's failure to all of its waiters",
        intent: "a waiter that is not told waits for ever",
        remedy: "answer all waiters on every path out of a load",
        resembles: "Salesforce iOS #2395 and AppAuth-Android #695: callbacks are lost after an error",
        setting: ahead,
        situations: FailingLoad.all
    ) { run, situation in
        let (waiters, load, ended) = try await run.load(situation.load)
        let callers = waiters + (try await run.calls(4))
        try await run.expectNobody(of: callers, gets: ended)
        let error = ContractLoadError(number: load.number, kind: situation.kind)
        try await run.given(.l1) { try await run.answer(load, .failure(error)) }
        // A caller that has a load of its own is answered by that one.
        try await run.answerLoads(with: .failed, until: callers)
        for caller in callers { try await run.expectFailure(caller) }
    }

    static let f2 = ContractClause(
        (.f2, .critical),
        "load again at the next call after an error: no error is sticky",
        intent: "one moment without a network must not sign the app out until it is restarted",
        remedy: "forget the load, or its task, when it has failed",
        resembles: "soto-core #708: one error poisons all later calls"
    ) { run in
        try await run.play([.call, .answer(.failure), .call, .answer(.token), .call])
    }

    static let f3 = ContractClause(
        (.f3, .serious),
        "give waiters the load's error unchanged",
        intent: "an app that is told something else can't decide between trying again and signing in again",
        remedy: "pass the error on, or tell the suite by errors: what yours stands for",
        isConvention: true
    ) { run in
        let callers = try await run.calls(2)
        try await run.given(.f1) { try await run.failLoads(until: callers) }
        for caller in callers { try await run.expect(caller, fails: ContractLoadError(number: 1)) }
    }

    static let f4 = ContractClause(
        (.f4, .critical),
        "treat a load that ends with CancellationError as any load that fails: nobody is left waiting",
        intent: "a request that the system cancels must not block the session for good",
        remedy: "tell a cancelled load from a cancelled waiter",
        resembles: "tailscale #18919: a joiner inherits a cancelled flight"
    ) { run in
        try run.takeForGranted(.f1, .f2)
        try await run.play([.call, .call, .answer(.cancellation), .call, .answer(.token), .call])
    }

    static let f5 = ContractClause(
        (.f5, .serious),
        "start no more loads for three callers than for one, when loads fail for good",
        intent: "a refused credential that is sent again and again gets the client blocked",
        remedy: "give the failure to all who wait, and leave it to the next caller to load again",
        resembles: "Alamofire #3297 and #3290: a storm of requests after a failed refresh",
        situations: Waiters.all
    ) { run, waiters in
        let error = ContractLoadError(number: 1, kind: .permanent)
        if waiters == .three { try run.takeForGranted(.f1) }
        let caller = try await run.call()
        let expired = LoadResult.success(run.token("expired T", life: -1))
        let isForExpiredTokens = waiters == .oneForExpiredTokens
        try await run.answerLoads(
            with: isForExpiredTokens ? expired : .failure(error),
            until: [caller],
            accusing: { isForExpiredTokens ? nil : .f1 }
        )
        // The last error may be on its way.
        if caller.answers.isEmpty, run.openLoads.isEmpty { await run.settle() }
        let loads = run.fixture.loader.loads.count
        try run.expect(
            !caller.answers.isEmpty || loads < 20,
            "\(caller.name) to get \(isForExpiredTokens ? "an answer" : "the error") after a few loads",
            observed: "\(loads) loads have \(isForExpiredTokens ? "ended" : "failed"), and the caller has no answer"
        )
        // What is done with such a token, and when the next one is loaded, is left open.
        if isForExpiredTokens { return }
        try await run.leaving(to: .f1) { try await run.expectFailure(caller) }
        run.takenLoads = run.fixture.loader.loads.count
        await run.settle()
        let own = run.openLoads.first
        try run.expect(own == nil, "no load, since nobody waits", observed: "load \(own?.number ?? 0) was started")
        if waiters == .one { return }
        // A service may try several times for each call, but no more often because more callers wait.
        let loadsForOne = run.fixture.loader.loads.count
        // A caller that arrives after the failure rightly has a load of its own: chance does not repeat it three
        // times.
        var loadsForThree = 0
        for _ in 0..<3 {
            let earlier = run.fixture.loader.loads.count
            let callers = try await run.calls(3)
            await run.settle()
            try await run.leaving(to: .s1) { try run.expectOneLoadAtOnce() }
            try await run.given(.f1) { try await run.failLoads(with: error, until: callers) }
            // Callers who retry beside each other are this clause's own fault, unless they share no load at all.
            if run.conditions.broken.contains(.s1) {
                try await run.leaving(to: .s1) { try run.expectOneLoadAtOnce() }
            }
            loadsForThree = run.fixture.loader.loads.count - earlier
            if loadsForThree <= loadsForOne { return }
        }
        throw run.violation(
            "no more loads for three callers who wait together than for one: \(loadsForOne)",
            "\(loadsForThree) were started"
        )
    }

    static let f6 = ContractClause(
        (.f6, .critical),
        "let the next sign-in begin a whole session after the server has refused the credential for good",
        intent: "a session that stays over after the login locks the user out until the app is restarted",
        remedy: "forget at a sign-in what the former session's loads brought, errors included",
        needs: .signIn
    ) { run in
        try run.takeForGranted(.c1, .o6)
        let refusal: [Step] = [.call, .answer(.permanentFailure), .signIn(.valid)]
        try await run.play(Script(.plain, refusal + [.call]))
        // The new session's first token hides a refusal that has outlived the session before it.
        try await run.play(Script(.plain, refusal + [.reject(.current), .call, .answer(.token)]))
        try run.takeForGranted(.c10)
        try await run.play(Script(.plain, refusal + [.pass(.life), .call, .answer(.token)]))
    }
}
