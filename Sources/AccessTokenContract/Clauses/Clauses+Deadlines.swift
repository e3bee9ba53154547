import AccessTokenAdapters

extension AccessTokenContract {
    private static let tenSeconds = AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: 10)

    static let deadlines = [
        ContractClause(
            "T1",
            "fail the waiters of a load that is silent past its deadline, and let the next call load again",
            intent: "one lost connection must not hang every request of the app until it is restarted",
            needs: .loadDeadline,
            policy: tenSeconds
        ) { trial in
            let token = trial.token("T2")
            let callers = trial.calls(3)
            _ = try await trial.load(1)
            await trial.waitUntilTimerRuns()
            await trial.settle()
            trial.advance(by: 9)
            await trial.settle()
            for caller in callers { try trial.expectWaiting(caller) }
            trial.advance(by: 1)
            for caller in callers { try await trial.expect(caller, fails: AccessTokenError.loadTimedOut) }
            let next = trial.call("next caller")
            try await trial.load(2).answer(.success(token))
            try await trial.expect(next, gets: token)
        },

        ContractClause(
            "T2",
            "adopt a late good answer of the same session when nothing newer is there",
            intent: "after a rotation the late answer may be the only good one that there will ever be",
            needs: [.loadDeadline, .currentToken],
            policy: tenSeconds
        ) { trial in
            let late = trial.token("late T")
            let caller = trial.call()
            let load = try await trial.load(1)
            await trial.waitUntilTimerRuns()
            trial.advance(by: 10)
            try await trial.expect(caller, fails: AccessTokenError.loadTimedOut)
            load.answer(.success(late))
            await trial.waitUntilPresent(late)
            try await trial.expect(trial.call("later caller"), gets: late)
            try trial.expectLoads(1)
        },
    ]

    static let reentrance = [
        ContractClause(
            "R1",
            "fail with a clear error, not deadlock, when an async loader asks its own service for a token",
            intent: "a loader that sends its request through the app's own session waits for itself",
            needs: .asyncLoader
        ) { trial in
            let token = trial.token("T1")
            let asking = Locked<Caller?>(nil)
            trial.fixture.loader.duringLoad { _ in
                let caller = trial.call("the loader", inPresentTask: true)
                asking.withLock { $0 = caller }
                _ = await trial.wait { !caller.answers.isEmpty }
            }
            let caller = trial.call()
            let load = try await trial.load(1)
            guard await trial.wait(until: { asking.withLock { $0 } != nil }), let loader = asking.withLock({ $0 })
            else {
                throw ContractViolation(
                    clause: trial.clause,
                    expected: "the load to run",
                    observed: "nothing",
                    trace: trial.changes.trace,
                    line: #line
                )
            }
            try await trial.expect(loader, fails: AccessTokenError.loadAskedItsOwnService)
            load.answer(.success(token))
            try await trial.expect(caller, gets: token)
            try trial.expectLoads(1)
        }
    ]
}
