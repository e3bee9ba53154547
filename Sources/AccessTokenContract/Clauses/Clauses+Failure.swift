import AccessTokenAdapters

extension AccessTokenContract {
    static let failure = [
        ContractClause(
            "F1",
            "give a load's error, unchanged, to all of its waiters",
            intent: "a waiter that is not told waits for ever, and one that is told something else can't decide"
        ) { trial in
            let callers = trial.calls(4)
            let load = try await trial.load(1)
            await trial.settle()
            load.answer(.failure(ContractLoadError(number: 1)))
            for caller in callers { try await trial.expect(caller, fails: ContractLoadError(number: 1)) }
            try trial.expectLoads(1)
        },

        ContractClause(
            "F2",
            "load again at the next call after an error: no error is sticky",
            intent: "one moment without a network must not sign the app out until it is restarted"
        ) { trial in
            let token = trial.token("T1")
            let unlucky = trial.call("unlucky caller")
            try await trial.load(1).answer(.failure(ContractLoadError(number: 1)))
            try await trial.expect(unlucky, fails: ContractLoadError(number: 1))
            let next = trial.call("next caller")
            try await trial.load(2).answer(.success(token))
            try await trial.expect(next, gets: token)
            try await trial.expect(trial.call(), gets: token)
            try trial.expectLoads(2)
        },
    ]
}
