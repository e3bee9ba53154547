import AccessTokenAdapters

extension AccessTokenContract {
    static let sessions = [
        ContractClause(
            "O1",
            "at sign-out during a load: answer its waiters with signedOut, and never cache, hand out or keep its late "
                + "result",
            intent: "a late answer that brings the last user back is the field's most common security bug",
            needs: .signOut
        ) { trial in
            let late = trial.token("late T")
            let callers = trial.calls(3)
            let load = try await trial.load(1)
            await trial.settle()
            await trial.signOut()
            for caller in callers { try await trial.expect(caller, fails: AccessTokenError.signedOut) }
            load.answer(.success(late))
            await trial.settle()
            try await trial.expect(trial.call("caller after sign-out"), fails: AccessTokenError.signedOut)
            try trial.expectLoads(1)
            try trial.expect(
                trial.fixture.loader.signOuts == 1,
                "the loader to be told once to forget the session",
                observed: "\(trial.fixture.loader.signOuts) times"
            )
        },

        ContractClause(
            "O2",
            "at sign-in during a load: keep the new session's token, whatever the old load brings",
            intent: "the new user must never act with the former user's token",
            needs: .signIn
        ) { trial in
            let (late, new) = (trial.token("late T"), trial.token("new T"))
            let caller = trial.call()
            let load = try await trial.load(1)
            await trial.signIn(new)
            load.answer(.success(late))
            await trial.settle()
            try await trial.expect(caller, gets: new)
            try await trial.expect(trial.call("caller after sign-in"), gets: new)
            try trial.expectLoads(1)
        },

        ContractClause(
            "O3",
            "after sign-out answer signedOut without a load, until sign-in",
            intent: "a load after sign-out asks the server with a credential that was to be forgotten",
            needs: .signOut
        ) { trial in
            try await trial.cache(trial.token("T1"))
            await trial.signOut()
            for caller in trial.calls(3) { try await trial.expect(caller, fails: AccessTokenError.signedOut) }
            try trial.expectLoads(1)
            guard trial.features.contains(.signIn) else { return }
            let token = trial.token("S1")
            await trial.signIn(token)
            try await trial.expect(trial.call("caller after sign-in"), gets: token)
            try trial.expectLoads(1)
        },
    ]
}
