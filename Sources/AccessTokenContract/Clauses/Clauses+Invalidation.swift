import AccessTokenAdapters

extension AccessTokenContract {
    static let invalidation = [
        ContractClause(
            "I1",
            "load at the next call after the current token was invalidated",
            intent: "a server may revoke a token at any time, and only its 401 tells",
            needs: .invalidation
        ) { trial in
            let (first, second) = (trial.token("T1"), trial.token("T2"))
            try await trial.cache(first)
            await trial.invalidate(first)
            let caller = trial.call()
            let load = try await trial.load(2)
            try trial.expect(load, replaces: first)
            load.answer(.success(second))
            try await trial.expect(caller, gets: second)
        },

        ContractClause(
            "I2",
            "ignore the invalidation of a token that is no longer the current one",
            intent: "the fifty-first 401 for an old token must not throw away the token that replaced it",
            needs: .invalidation
        ) { trial in
            let (first, second) = (trial.token("T1"), trial.token("T2"))
            try await trial.cache(first)
            await trial.invalidate(first)
            let caller = trial.call()
            try await trial.load(2).answer(.success(second))
            try await trial.expect(caller, gets: second)
            await trial.invalidate(first)
            await trial.settle()
            let next = trial.call("next caller")
            await trial.settle()
            try trial.expectLoads(2)
            try await trial.expect(next, gets: second)
        },

        ContractClause(
            "I3",
            "run one load when N callers reject the same token",
            intent: "requests that were sent together are rejected together",
            needs: .invalidation
        ) { trial in
            let (first, second) = (trial.token("T1"), trial.token("T2"))
            try await trial.cache(first)
            var callers: [Caller] = []
            for _ in 0..<10 {
                await trial.invalidate(first)
                callers.append(trial.call())
            }
            let load = try await trial.load(2)
            await trial.settle()
            try trial.expectLoads(2)
            load.answer(.success(second))
            for caller in callers { try await trial.expect(caller, gets: second) }
            await trial.invalidate(first)
            try await trial.expect(trial.call("late rejecter"), gets: second)
            try trial.expectLoads(2)
        },
    ]
}
