import AccessTokenAdapters
import ContractHarness

extension ServiceContract {
    /// What a load brings after its session has ended.
    private enum LateAnswer {
        case success, failure, permanentFailure
        case failureAndThenSuccess
    }

    /// Each of the answers to a first load, and a success of each other kind of load that the subject has.
    private static func lateAnswers(
        _ answers: LateAnswer...,
        features: ContractFeatures
    ) -> [(load: ClauseRun.LoadKind, answer: LateAnswer)] {
        answers.map { (.first, $0) } + ClauseRun.LoadKind.all(features).dropFirst().map { ($0, .success) }
    }

    static let sessions = [
        ContractClause(
            ("O1", .critical),
            "never cache, hand out or keep the result of a load that was running at sign-out",
            intent: "a late answer that brings the last user back is the field's most common security bug",
            remedy: "give each session a number, and drop an answer whose session is over",
            resembles: "supabase-swift #1371; Auth0 and Alamofire: a sign-out during a refresh is undone",
            needs: .signOut,
            setting: ahead,
            rounds: {
                let count = lateAnswers(.success, .failureAndThenSuccess, features: $0).count
                return ClauseRun.roundsWithBothLoaders(count, $0)
            }
        ) { run in
            let answers = lateAnswers(.success, .failureAndThenSuccess, features: run.features)
            let (kind, answer) = run.situation(of: answers)
            let (waiters, load, _) = try await run.runningLoad(kind)
            let late = run.token("late T")
            await run.settle()
            try await run.given("O4") { try await run.signOut() }
            if answer != .success {
                try await run.answer(load, .failure(ContractLoadError(number: load.number)))
                await run.settle()
            }
            // After a failure this is a service that loads again.
            for load in run.openLoads { try await run.answer(load, .success(late)) }
            await run.settle()
            // Whether they are answered at once is for O4 to judge.
            for waiter in waiters {
                guard let given = waiter.answers.lazy.compactMap(\.token).first else { continue }
                let broken = "\(waiter.name), who waited at sign-out, not to get a token"
                throw run.violation(broken, "the caller gets \(run.log.name(given))")
            }
            let after = try await run.call("caller after sign-out")
            // Whether a load may be started is for O3 to judge.
            try await run.answerLoads(with: .failure(ContractLoadError(number: 2)), until: [after])
            if let given = after.answers.first?.token {
                throw run.violation("\(after.name) not to get a token", "the caller gets \(run.log.name(given))")
            }
            guard run.features.contains(.currentToken), let kept = try await run.currentToken() else { return }
            throw run.violation("no current token after sign-out", "it is \(run.log.name(kept))")
        },

        ContractClause(
            ("O2", .critical),
            "at sign-in during a load: keep the new session's token, whatever the old load brings",
            intent: "the new user must never act with the former user's token",
            remedy: "give each session a number, and drop an answer whose session is over",
            needs: .signIn,
            setting: ahead,
            rounds: { lateAnswers(.success, .failure, .permanentFailure, features: $0).count }
        ) { run in
            try run.takeForGranted("C1")
            let (kind, answer) = lateAnswers(.success, .failure, .permanentFailure, features: run.features)[run.round]
            let load = try await run.runningLoad(kind).load
            let (late, new) = (run.token("late T"), run.token("new T"))
            try await run.signIn(new)
            let error = ContractLoadError(
                number: load.number,
                kind: answer == .permanentFailure ? .permanent : .transient
            )
            try await run.answer(load, answer == .success ? .success(late) : .failure(error))
            await run.settle()
            let caller = try await run.call("caller after sign-in")
            // Has its answer from the cache by now, also where the service loads before it is asked.
            await run.settle()
            // A service that loads again must not let that be seen either.
            try await run.answerLoads(with: .success(late), until: [caller])
            try await run.expect(caller, gets: new)
        },

        ContractClause(
            ("O3", .critical),
            "after sign-out refuse callers without a load, until sign-in",
            intent: "a load after sign-out asks the server with a credential that was to be forgotten",
            remedy: "keep the fact that nobody is signed in, and look at it before the cache",
            needs: .signOut,
            // With a token, during a load, before anything else, and in a second session.
            rounds: { $0.contains(.signIn) ? 4 : 3 }
        ) { run in
            var waiters: [Caller] = []
            switch run.round {
            case 0: try await run.cache(run.token("T1"))
            case 3:
                try await run.cache(run.token("T1"))
                try await run.signOut()
                try await run.signIn(run.token("S1"))
                // A service may load before it is asked.
                await run.settle()
            case 1:
                waiters = try await run.runningLoad(.first).waiters
                await run.settle()
            default: await run.settle()
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
        },

        ContractClause(
            ("O4", .serious),
            "at sign-out during a load answer its waiters with an error, without waiting for the load",
            intent: "the screens of a user who is gone wait for a server that owes them nothing",
            remedy: "take the waiters out of the load at sign-out, and answer them",
            needs: .signOut,
            rounds: { ClauseRun.roundsWithBothLoaders(1, $0) }
        ) { run in
            run.situation(of: [()])
            let callers = try await run.calls(3)
            try await run.firstLoad()
            await run.settle()
            try await run.signOut()
            for caller in callers { try await run.expectFailure(caller) }
        },

        ContractClause(
            ("O5", .minor),
            "refuse callers after sign-out, and waiters at sign-out, with signedOut",
            intent: "an app shows its sign-in screen for that error, and for no other",
            remedy: "give sign-out an error of its own, and tell the suite by errors: which it is",
            isConvention: true,
            needs: .signOut
        ) { run in
            let waiter = try await run.call("waiter")
            try await run.firstLoad()
            let refused = try await run.given("O4") {
                try await run.signOut()
                try await run.expectFailure(waiter)
                return try await run.call("caller after sign-out")
            }
            try await run.given("O3") { try await run.expectRefusal(refused) }
            for caller in [waiter, refused] { try await run.expect(caller, fails: AccessTokenError.signedOut) }
        },

        ContractClause(
            ("O6", .critical),
            "hand out the new session's token after a sign-in, also without a sign-out before it",
            intent: "a user who signed in again would be told to sign in",
            remedy: "let a sign-in replace the cached token, and undo all that a sign-out has set",
            needs: [.signOut, .signIn],
            // The sign-out ends a session with a token, and one with a load; or there is none.
            rounds: { _ in 3 }
        ) { run in
            try run.takeForGranted("C1")
            let token = run.token("S1")
            if run.round == 1 { _ = try await run.runningLoad(.first) } else { try await run.cache(run.token("T1")) }
            if run.round < 2 { try await run.given("O3") { try await run.signOut() } }
            try await run.signIn(token)
            // A service may load before it is asked.
            await run.settle()
            run.takenLoads = run.fixture.loader.loads.count
            try await run.expect(run.call("caller after sign-in"), getsCached: token)
        },

        ContractClause(
            ("O7", .serious),
            "tell the loader once to forget the session at sign-out",
            intent: "the refresh token stays in the keychain of a user who is gone, unless the service removes it by "
                + "itself",
            remedy: "pass the sign-out on to whatever keeps the credential; if the service removes it by itself, call "
                + "fixture.loader.signOut() in the subject, where it is gone",
            isConvention: true,
            needs: .signOut
        ) { run in
            try await run.cache(run.token("T1"))
            try await run.given("O3") { try await run.signOut() }
            await run.settle()
            let count = run.fixture.loader.signOuts
            try run.expect(count == 1, "the loader to be told once to forget the session", observed: "\(count) times")
        },

        ContractClause(
            ("O8", .serious),
            "at sign-in during a load answer its waiters with the new session's token",
            intent: "a request that waits for a token would be sent with the former user's",
            remedy: "take the waiters out of the load at sign-in, and answer them",
            isConvention: true,
            needs: .signIn
        ) { run in
            let (late, new) = (run.token("late T"), run.token("new T"))
            let waiter = try await run.call("waiter")
            let load = try await run.firstLoad()
            try await run.given("O2") { try await run.signIn(new) }
            try await run.answer(load, .success(late))
            try await run.expect(waiter, gets: new)
        },

        ContractClause(
            ("O9", .critical),
            "at sign-in with an expired token during a load: load for the new session after that load, and not beside it",
            intent:
                "the stored token of a launch is of the session that loads already: both loads send one refresh token",
            remedy: "start the new session's load when the former one has ended or has passed its deadline",
            isConvention: true,
            needs: [.signIn, .expiry],
            skips: { $0.promises.contains("O9") ? nil : "not promised" }
        ) { run in
            try run.takeForGranted("C10", "O2")
            try await run.play([.call, .signIn(.expired), .call, .answer(.token), .answer(.token), .call])
        },
    ]
}
