import AccessTokenAdapters
import ContractHarness

extension ClauseID {
    static let o1: ClauseID = "O1"
    static let o2: ClauseID = "O2"
    static let o3: ClauseID = "O3"
    static let o4: ClauseID = "O4"
    static let o5: ClauseID = "O5"
    static let o6: ClauseID = "O6"
    static let o7: ClauseID = "O7"
    static let o8: ClauseID = "O8"
    static let o9: ClauseID = "O9"
}

extension ServiceContract {
    /// What a load brings after its session has ended.
    private struct LateAnswer: ClauseSituation {
        enum Kind: String {
            case success = "brings a token"
            case failure = "fails"
            case permanentFailure = "is refused for good"
            case failureAndThenSuccess = "fails, and the next one brings a token"
            case successAtTheDoor = "brings a token just before, and both wait while a caller is held"
        }

        let load: ClauseRun.LoadKind
        let kind: Kind

        var name: String { "\(load.rawValue) \(kind.rawValue)" }

        /// Each of the answers to each kind of load that the subject has, and a token at the door of an actor.
        static func all(_ kinds: Kind..., features: ContractFeatures) -> [LateAnswer] {
            let atTheDoor: [Kind] = features.contains(.asyncCallers) ? [.successAtTheDoor] : []
            return ClauseRun.LoadKind.all(features).flatMap { load in
                (kinds + atTheDoor).map { LateAnswer(load: load, kind: $0) }
            }
        }
    }

    private enum EndedSession: String, ClauseSituation {
        case withToken = "a token is cached at sign-out"
        case duringALoad = "a load is running at sign-out"
        case before = "nothing has happened before the sign-out"
        case second = "the sign-out ends a second session"

        static func all(_ features: ContractFeatures) -> [EndedSession] {
            [.withToken, .duringALoad, .before] + (features.contains(.signIn) ? [.second] : [])
        }
    }

    private enum FormerSession: String, ClauseSituation, CaseIterable {
        case withToken = "the former session had a token at sign-out"
        case withLoad = "the former session had a running load at sign-out"
        case isBeingForgotten = "the loader has not forgotten the former session yet"
        case goesOn = "the former session was not signed out"
    }

    /// What the loader is slow in when a session ends.
    private enum LeavingLoader: ClauseSituation {
        case loads(ClauseRun.LoaderKind)
        case forgetsSlowly

        var name: String {
            switch self {
            case .loads(let kind): kind.name
            case .forgetsSlowly: "the loader takes its time to forget the session"
            }
        }

        static func all(_ features: ContractFeatures) -> [LeavingLoader] {
            ClauseRun.LoaderKind.all(features).map(loads) + [.forgetsSlowly]
        }
    }

    static let sessions = [o1, o2, o3, o4, o5, o6, o7, o8, o9]

    static let o1 = ContractClause(
        (.o1, .critical),
        "never cache, hand out or keep the result of a load that was running at sign-out",
        intent: "a late answer that brings the last user back is the field's most common security bug",
        remedy: "give each session a number, and drop an answer whose session is over",
        resembles: "supabase-swift #1371; Auth0 and Alamofire: a sign-out during a refresh is undone",
        needs: .signOut,
        setting: ahead,
        situations: { features in
            ClauseRun.WithLoader.all(
                LateAnswer.all(.success, .failureAndThenSuccess, features: features),
                features
            )
        }
    ) { run, situation in
        run.use(situation.loader)
        let answer = situation.base
        let (waiters, load, _) = try await run.runningLoad(answer.load)
        let late = run.token("late T")
        await run.settle()
        if answer.kind == .successAtTheDoor {
            try await run.answer(load, .success(late), andThen: "sign-out") { await $0.signOut?() }
        } else {
            try await run.given(.o4) { try await run.signOut() }
        }
        if answer.kind == .failureAndThenSuccess {
            try await run.answer(load, .failure(ContractLoadError(number: load.number)))
            await run.settle()
        }
        // After a failure this is a service that loads again.
        for load in run.openLoads { try await run.answer(load, .success(late)) }
        await run.settle()
        // Whether they are answered at once is for O4 to judge. Who was answered before the sign-out has its token.
        for waiter in waiters where answer.kind != .successAtTheDoor {
            guard let given = waiter.answers.lazy.compactMap(\.token).first else { continue }
            let broken = "\(waiter.name), who waited at sign-out, not to get a token"
            throw run.violation(broken, "the caller gets \(run.log.name(given))")
        }
        let after = try await run.call("caller after sign-out")
        // Whether a load may be started is for O3 to judge.
        try await run.answerLoads(
            with: .failure(ContractLoadError(number: 2)),
            until: [after],
            accusing: { nil }
        )
        if let given = after.answers.first?.token {
            throw run.violation("\(after.name) not to get a token", "the caller gets \(run.log.name(given))")
        }
        guard run.features.contains(.currentToken), let kept = try await run.currentToken() else { return }
        throw run.violation("no current token after sign-out", "it is \(run.log.name(kept))")
    }

    static let o2 = ContractClause(
        (.o2, .critical),
        "at sign-in during a load: keep the new session's token, whatever the old load brings",
        intent: "the new user must never act with the former user's token",
        remedy: "give each session a number, and drop an answer whose session is over",
        needs: .signIn,
        setting: ahead,
        situations: { LateAnswer.all(.success, .failure, .permanentFailure, features: $0) }
    ) { run, answer in
        try run.takeForGranted(.c1)
        let load = try await run.runningLoad(answer.load).load
        let (late, new) = (run.token("late T"), run.token("new T"))
        switch answer.kind {
        case .successAtTheDoor:
            try await run.answer(load, .success(late), andThen: "sign-in with new T") { await $0.signIn?(new) }
        case .success:
            try await run.signIn(new)
            try await run.answer(load, .success(late))
        case .failure, .permanentFailure, .failureAndThenSuccess:
            try await run.signIn(new)
            let kind: ContractLoadError.Kind = answer.kind == .permanentFailure ? .permanent : .transient
            try await run.answer(load, .failure(ContractLoadError(number: load.number, kind: kind)))
        }
        await run.settle()
        let caller = try await run.call("caller after sign-in")
        // Has its answer from the cache by now, also where the service loads before it is asked.
        await run.settle()
        // A service that loads again must not let that be seen either.
        try await run.answerLoads(with: .success(late), until: [caller])
        try await run.expect(caller, gets: new)
    }

    static let o3 = ContractClause(
        (.o3, .critical),
        "after sign-out refuse callers without a load, until sign-in",
        intent: "a load after sign-out asks the server with a credential that was to be forgotten",
        remedy: "keep the fact that nobody is signed in, and look at it before the cache",
        needs: .signOut,
        situations: EndedSession.all
    ) { run, session in
        var waiters: [Caller] = []
        switch session {
        case .withToken: try await run.cache(run.token("T1"))
        case .second:
            try await run.cache(run.token("T1"))
            try await run.signOut()
            try await run.signIn(run.token("S1"))
            // A service may load before it is asked.
            await run.settle()
        case .duringALoad:
            waiters = try await run.runningLoad(.first).waiters
            await run.settle()
        case .before: await run.settle()
        }
        run.takenLoads = run.fixture.loader.loads.count
        try await run.signOut()
        // It is for O4 to judge that a sign-out waits for the load.
        if waiters.contains(where: \.answers.isEmpty) { return }
        // What these callers loaded after the sign-out is no load of a caller of after it.
        if !waiters.isEmpty { run.takenLoads = run.fixture.loader.loads.count }
        for caller in try await run.calls(3) { try await run.expectRefusal(caller) }
        guard run.features.contains(.forcedRefresh) else { return }
        try await run.expectRefusal(run.call("caller that wants another token", refresh: true))
    }

    static let o4 = ContractClause(
        (.o4, .serious),
        "at sign-out during a load answer its waiters with an error, without waiting for the load",
        intent: "the screens of a user who is gone wait for a server that owes them nothing",
        remedy: "take the waiters out of the load at sign-out, and answer them",
        needs: .signOut,
        situations: { LeavingLoader.all($0) }
    ) { run, situation in
        let loader = run.fixture.loader
        switch situation {
        case .loads(let kind): run.use(kind)
        case .forgetsSlowly: loader.holdSignOuts()
        }
        defer { loader.releaseSignOuts() }
        let callers = try await run.calls(3)
        try await run.firstLoad()
        await run.settle()
        try await run.signOut()
        for caller in callers { try await run.expectFailure(caller) }
    }

    static let o5 = ContractClause(
        (.o5, .minor),
        "refuse callers after sign-out, and waiters at sign-out, with signedOut",
        intent: "an app shows its sign-in screen for that error, and for no other",
        remedy: "give sign-out an error of its own, and tell the suite by errors: which it is",
        isConvention: true,
        needs: .signOut
    ) { run in
        let waiter = try await run.call("waiter")
        try await run.firstLoad()
        let refused = try await run.given(.o4) {
            try await run.signOut()
            try await run.expectFailure(waiter)
            return try await run.call("caller after sign-out")
        }
        try await run.given(.o3) { try await run.expectRefusal(refused) }
        for caller in [waiter, refused] { try await run.expect(caller, fails: AccessTokenError.signedOut) }
    }

    static let o6 = ContractClause(
        (.o6, .critical),
        "hand out the new session's token after a sign-in, also without a sign-out before it",
        intent: "a user who signed in again would be told to sign in",
        remedy: "let a sign-in replace the cached token, and undo all that a sign-out has set",
        needs: [.signOut, .signIn],
        situations: { _ in FormerSession.allCases }
    ) { run, former in
        try run.takeForGranted(.c1)
        let token = run.token("S1")
        let loader = run.fixture.loader
        defer { loader.releaseSignOuts() }
        switch former {
        case .withToken:
            try await run.cache(run.token("T1"))
            try await run.given(.o3) { try await run.signOut() }
        case .withLoad:
            _ = try await run.runningLoad(.first)
            try await run.given(.o3) { try await run.signOut() }
        case .isBeingForgotten:
            loader.holdSignOuts()
            let waiters = try await run.runningLoad(.first).waiters
            try await run.given(.o4) {
                try await run.signOut()
                // The sign-out has counted before the sign-in.
                for waiter in waiters { try await run.expectFailure(waiter) }
            }
        case .goesOn: try await run.cache(run.token("T1"))
        }
        if former == .isBeingForgotten {
            try await run.signIn(token) { loader.releaseSignOuts() }
        } else {
            try await run.signIn(token)
        }
        // A service may load before it is asked.
        await run.settle()
        run.takenLoads = run.fixture.loader.loads.count
        try await run.expect(run.call("caller after sign-in"), getsCached: token)
    }

    static let o7 = ContractClause(
        (.o7, .serious),
        "tell the loader once to forget the session at sign-out",
        intent: "the refresh token stays in the keychain of a user who is gone, unless the service removes it by "
            + "itself",
        remedy: "pass the sign-out on to whatever keeps the credential; if the service removes it by itself, call "
            + "fixture.loader.signOut() in the subject, where it is gone",
        isConvention: true,
        needs: .signOut
    ) { run in
        try await run.cache(run.token("T1"))
        try await run.given(.o3) { try await run.signOut() }
        await run.settle()
        let count = run.fixture.loader.signOuts
        try run.expect(count == 1, "the loader to be told once to forget the session", observed: "\(count) times")
    }

    static let o8 = ContractClause(
        (.o8, .serious),
        "at sign-in during a load answer its waiters with the new session's token",
        intent: "a request that waits for a token would be sent with the former user's",
        remedy: "take the waiters out of the load at sign-in, and answer them",
        isConvention: true,
        needs: .signIn
    ) { run in
        let (late, new) = (run.token("late T"), run.token("new T"))
        let waiter = try await run.call("waiter")
        let load = try await run.firstLoad()
        try await run.given(.o2) { try await run.signIn(new) }
        try await run.answer(load, .success(late))
        try await run.expect(waiter, gets: new)
    }

    static let o9 = ContractClause(
        (.o9, .critical),
        "at sign-in with an expired token during a load: load for the new session after that load, and not beside it",
        intent:
            "the stored token of a launch is of the session that loads already: both loads send one refresh token",
        remedy: "start the new session's load when the former one has ended or has passed its deadline",
        isConvention: true,
        needs: [.signIn, .expiry],
        skips: { $0.promises.contains(.o9) ? nil : "not promised" }
    ) { run in
        try run.takeForGranted(.c10, .o2)
        try await run.play([.call, .signIn(.expired), .call, .answer(.token), .answer(.token), .call])
    }
}
