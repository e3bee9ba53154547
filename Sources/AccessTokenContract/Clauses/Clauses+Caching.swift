import AccessTokenAdapters

extension AccessTokenContract {
    static let caching = [
        ContractClause(
            "C1",
            "answer from a valid cached token without a load",
            intent: "a load for each call is slow, and a rotation of the refresh token for each call"
        ) { trial in
            let token = trial.token("T1")
            try await trial.cache(token)
            for caller in trial.calls(3) { try await trial.expect(caller, gets: token) }
            try trial.expectLoads(1)
        },

        ContractClause(
            "C2",
            "treat a token as expired from expiration − leeway on, that instant included",
            intent: "a token that expires on its way to the server is a 401 for the user",
            needs: [.expiry, .leeway],
            policy: AccessTokenPolicy(leeway: 30, refreshAhead: 0, loadDeadline: nil)
        ) { trial in
            let (first, second) = (trial.token("T1", life: 3600), trial.token("T2", life: 9000))
            try await trial.cache(first)
            trial.advance(by: 3569.5)
            try await trial.expect(trial.call(), gets: first)
            try trial.expectLoads(1)
            trial.advance(by: 0.5)
            let caller = trial.call()
            let load = try await trial.load(2)
            try trial.expect(load, replaces: first)
            load.answer(.success(second))
            try await trial.expect(caller, gets: second)
        },

        ContractClause(
            "C3",
            "keep a token without expiration until it is invalidated",
            intent: "expires_in is optional (RFC 6749, section 5.1), and guessing one breaks sessions"
        ) { trial in
            let (first, second) = (trial.token("T1", life: nil), trial.token("T2"))
            try await trial.cache(first)
            trial.advance(by: 315_576_000)
            try await trial.expect(trial.call(), gets: first)
            try trial.expectLoads(1)
            guard trial.features.contains(.invalidation) else { return }
            await trial.invalidate(first)
            let caller = trial.call()
            try await trial.load(2).answer(.success(second))
            try await trial.expect(caller, gets: second)
        },

        ContractClause(
            "C4",
            "never let the leeway use up more than half of a token's life, so that a short-lived token does not load "
                + "on every call",
            intent: "with tokens that live shorter than the leeway, every call would rotate the refresh token",
            needs: [.expiry, .leeway],
            policy: AccessTokenPolicy(leeway: 30, refreshAhead: 0, loadDeadline: nil)
        ) { trial in
            let token = trial.token("T1", life: 10)
            try await trial.cache(token)
            try await trial.expect(trial.call(), gets: token)
            trial.advance(by: 4.5)
            try await trial.expect(trial.call(), gets: token)
            try trial.expectLoads(1)
        },

        ContractClause(
            "C5",
            "inside the refresh-ahead window answer at once with the present token and run one load behind; "
                + "if that fails, keep the valid token",
            intent: "nobody waits for a token that is only going to expire, and nobody loses one that still works",
            needs: [.expiry, .refreshAhead, .currentToken],
            policy: AccessTokenPolicy(leeway: 0, refreshAhead: 300, loadDeadline: nil)
        ) { trial in
            let (first, second) = (trial.token("T1", life: 3600), trial.token("T2", life: 9000))
            try await trial.cache(first)
            trial.advance(by: 3299)
            try await trial.expect(trial.call(), gets: first)
            try trial.expectLoads(1)
            trial.advance(by: 1)
            for caller in trial.calls(3) { try await trial.expect(caller, gets: first) }
            let failing = try await trial.load(2)
            await trial.settle()
            try trial.expectLoads(2)
            failing.answer(.failure(ContractLoadError(number: 2)))
            // The failure reaches the subject in its own time; until then, calls are answered and load nothing.
            while trial.fixture.loader.loads.count < 3 {
                try await trial.expect(trial.call(), gets: first)
                guard await trial.hasTime() else { break }
            }
            try await trial.load(3).answer(.success(second))
            await trial.waitUntilPresent(second)
            try await trial.expect(trial.call(), gets: second)
            try trial.expectLoads(3)
        },
    ]
}
