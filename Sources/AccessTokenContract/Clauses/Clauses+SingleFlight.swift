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
            try await olderCallersLeaveNewerFlightAlone(trial)
            guard trial.features.isSuperset(of: [.signOut, .signIn, .expiry]) else { return }
            try await olderLoadLeavesNewerFlightAlone(trial)
        },
    ]

    /// Callers of a failed flight call again at once, while others of them are still being answered.
    private static func olderCallersLeaveNewerFlightAlone(_ trial: Trial) async throws {
        let token = trial.token("T1")
        let again = Locked<[Caller]>([])
        let callers = (0..<6).map { number in
            trial.call { _ in
                let caller = trial.call("caller \(number + 1), again,")
                again.withLock { $0.append(caller) }
            }
        }
        let load = try await trial.load(1)
        await trial.settle()
        load.answer(.failure(ContractLoadError(number: 1)))
        for caller in callers { try await trial.expect(caller, fails: ContractLoadError(number: 1)) }
        let second = try await trial.load(2)
        let joiner = trial.call("joiner")
        await trial.settle()
        try trial.expectLoads(2)
        second.answer(.success(token))
        _ = await trial.wait { again.withLock { $0.count } == callers.count }
        for caller in again.withLock({ $0 }) + [joiner] { try await trial.expect(caller, gets: token) }
        try trial.expectLoads(2)
    }

    /// A session ends during its load; the next session's load is running when the answer of the former one comes.
    private static func olderLoadLeavesNewerFlightAlone(_ trial: Trial) async throws {
        let (late, second) = (trial.token("late T"), trial.token("T2", life: 90_000))
        await trial.signOut()
        await trial.signIn(trial.token("S1", life: 10))
        trial.advance(by: 10)
        let former = trial.call("caller of the former session")
        let olderLoad = try await trial.load(3)
        await trial.signOut()
        try await trial.expect(former, fails: AccessTokenError.signedOut)
        await trial.signIn(trial.token("S2", life: 10))
        trial.advance(by: 10)
        let leader = trial.call("leader of the new session")
        let newerLoad = try await trial.load(4)
        olderLoad.answer(.success(late))
        await trial.settle()
        try trial.expectWaiting(leader)
        let joiner = trial.call("joiner of the new session")
        await trial.settle()
        try trial.expectLoads(4)
        try trial.expectWaiting(joiner)
        newerLoad.answer(.success(second))
        try await trial.expect(leader, gets: second)
        try await trial.expect(joiner, gets: second)
        try trial.expectLoads(4)
    }
}
