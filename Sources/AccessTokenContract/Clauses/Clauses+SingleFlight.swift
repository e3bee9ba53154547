import AccessTokenAdapters

extension AccessTokenContract {
    static let singleFlight = [
        ContractClause(
            "S1",
            "run one load for N concurrent callers, and give all of them its token",
            intent: "two loads with one refresh token look like theft, and the server signs the user out"
        ) { trial in
            let token = trial.token("T1")
            let callers = trial.calls(10)
            let load = try await trial.load(1)
            await trial.settle()
            try trial.expectLoads(1)
            load.answer(.success(token))
            for caller in callers { try await trial.expect(caller, gets: token) }
            try trial.expectLoads(1)
        },

        ContractClause(
            "S2",
            "let a caller that arrives during a load join it",
            intent: "the second of two calls is as dangerous a few milliseconds later as at the same moment"
        ) { trial in
            let token = trial.token("T1")
            let leader = trial.call("leader")
            let load = try await trial.load(1)
            let joiner = trial.call("joiner")
            await trial.settle()
            try trial.expectLoads(1)
            try trial.expectWaiting(joiner)
            load.answer(.success(token))
            try await trial.expect(leader, gets: token)
            try await trial.expect(joiner, gets: token)
            try trial.expectLoads(1)
        },

        ContractClause(
            "S3",
            "let only the flight that owns the slot clear, cache or answer: an older one never touches a newer one",
            intent: "a newer load whose slot is cleared runs unseen, and the next caller starts another beside it"
        ) { trial in
            if trial.features.contains(.invalidation) {
                let rejected = trial.token("rejected T")
                try await callersCallAgain(
                    trial,
                    whenGiven: .success(rejected),
                    whichThey: { await trial.invalidate(rejected) }
                )
                await trial.invalidate(trial.token("T"))
            }
            try await callersCallAgain(trial, whenGiven: .failure(ContractLoadError(number: 1)))
            guard trial.features.isSuperset(of: [.signOut, .signIn, .expiry]) else { return }
            try await olderLoadLeavesNewerFlightAlone(trial)
        },
    ]

    /// Callers of a flight that did not help them call again at once, while others of them are still being answered.
    private static func callersCallAgain(
        _ trial: Trial,
        whenGiven result: Result<AccessToken, any Error>,
        whichThey reject: (@Sendable () async -> Void)? = nil
    ) async throws {
        let (token, loads) = (trial.token("T"), trial.fixture.loader.loads.count)
        let again = CallerList()
        let callers = (0..<6).map { _ in
            trial.call { _ in
                guard let reject else { return again.append(trial.call()) }
                Task {
                    await reject()
                    again.append(trial.call())
                    trial.changes.check()
                }
            }
        }
        let load = try await trial.load(loads + 1)
        await trial.settle()
        load.answer(result)
        let second = try await trial.load(loads + 2)
        for caller in callers { _ = try await trial.answer(of: caller, expecting: "the answer of load \(loads + 1)") }
        _ = await trial.wait { again.callers.count == callers.count }
        let joiner = trial.call("joiner")
        await trial.settle()
        try trial.expectLoads(loads + 2)
        second.answer(.success(token))
        for caller in again.callers + [joiner] { try await trial.expect(caller, gets: token) }
        try trial.expectLoads(loads + 2)
    }

    /// A session ends during its load; the next session's load is running when the answer of the former one comes.
    private static func olderLoadLeavesNewerFlightAlone(_ trial: Trial) async throws {
        let (late, second) = (trial.token("late T"), trial.token("T2", life: 90_000))
        let loads = trial.fixture.loader.loads.count
        await trial.signOut()
        await trial.signIn(trial.token("S1", life: 10))
        trial.advance(by: 10)
        let former = trial.call("caller of the former session")
        let olderLoad = try await trial.load(loads + 1)
        await trial.signOut()
        try await trial.expect(former, fails: AccessTokenError.signedOut)
        await trial.signIn(trial.token("S2", life: 10))
        trial.advance(by: 10)
        let leader = trial.call("leader of the new session")
        let newerLoad = try await trial.load(loads + 2)
        olderLoad.answer(.success(late))
        await trial.settle()
        try trial.expectWaiting(leader)
        let joiner = trial.call("joiner of the new session")
        await trial.settle()
        try trial.expectLoads(loads + 2)
        try trial.expectWaiting(joiner)
        newerLoad.answer(.success(second))
        try await trial.expect(leader, gets: second)
        try await trial.expect(joiner, gets: second)
        try trial.expectLoads(loads + 2)
    }
}
