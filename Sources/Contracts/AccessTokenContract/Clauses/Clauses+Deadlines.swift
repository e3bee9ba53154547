import AccessTokenAdapters

extension ServiceContract {
    static let tenSeconds = AccessTokenPolicy(leeway: 0, refreshAhead: 0, loadDeadline: 10)

    static let deadlines = [
        ContractClause(
            ("T1", .critical),
            "fail the waiters of a load that is silent past its deadline",
            intent: "one lost connection must not hang every request of the app until it is restarted",
            remedy: "set a timer when a load begins, and answer its waiters when it fires",
            needs: .loadDeadline,
            setting: tenSeconds
        ) { run in
            let callers = try await run.calls(3)
            try await run.firstLoad()
            await run.waitUntilTimerRuns()
            await run.settle()
            try await run.advance(by: 9)
            await run.settle()
            for caller in callers { try run.expectWaiting(caller) }
            try await run.advance(by: 2)
            for caller in callers { try await run.expectFailure(caller) }
        },

        ContractClause(
            ("T2", .critical),
            "adopt a late good answer of the same session when nothing newer is there",
            intent: "after a rotation the late answer may be the only good one that there will ever be",
            remedy: "keep listening to a load whose waiters have failed, and cache what it brings",
            needs: [.loadDeadline, .currentToken],
            setting: tenSeconds
        ) { run in
            let late = run.token("late T")
            let (_, load) = try await loadTimesOut(run)
            try await run.answer(load, .success(late))
            let isAdopted = try await run.poll { try await run.currentToken()?.value == late.value }
            try run.expect(isAdopted, "the late T to be the current token", observed: "it is not")
        },

        ContractClause(
            ("T3", .critical),
            "let the next call load again after a load was silent past its deadline",
            intent: "callers that join a load that will never end fail with it, one after the other",
            remedy: "forget the load when its deadline has passed",
            needs: .loadDeadline,
            setting: tenSeconds
        ) { run in
            _ = try await loadTimesOut(run)
            try await run.expect(run.call("next caller"), getsLoaded: run.token("T2"))
        },

        ContractClause(
            ("T4", .minor),
            "fail the waiters of a silent load with loadTimedOut",
            intent: "a silent server is worth another try, and a refused credential is not",
            remedy: "give the deadline an error of its own, and tell the suite by errors: which it is",
            isConvention: true,
            needs: .loadDeadline,
            setting: tenSeconds
        ) { run in
            let (caller, _) = try await loadTimesOut(run)
            try await run.expect(caller, fails: AccessTokenError.loadTimedOut)
        },
    ]

    /// A load whose waiter has failed, since it was silent past the deadline.
    static func loadTimesOut(_ run: ClauseRun) async throws -> (waiter: Caller, load: ControlledLoad) {
        try await run.given("T1") {
            let caller = try await run.call()
            let load = try await run.nextLoad()
            await run.waitUntilTimerRuns()
            try await run.advance(by: 11)
            try await run.expectFailure(caller)
            return (caller, load)
        }
    }

    static let loaderCalls = [
        ContractClause(
            ("R1", .critical),
            "answer a loader that asks its own service for a token with an error, not with a deadlock",
            intent: "a loader that sends its request through the app's own session waits for itself",
            remedy: "remember that the present code is inside a load, in a task-local value or on the loader's queue",
            needs: .loaderRecognition
        ) { run in
            try await run.expectFailure(loaderAsks(run))
        },

        ContractClause(
            ("R2", .minor),
            "tell a loader that asks its own service so, by loadAskedItsOwnService",
            intent: "who reads that error knows what to mend",
            remedy: "give it an error of its own, and tell the suite by errors: which it is",
            isConvention: true,
            needs: .loaderRecognition
        ) { run in
            let loader = try await loaderAsks(run)
            try await run.given("R1") { try await run.expectFailure(loader) }
            try await run.expect(loader, fails: AccessTokenError.loadAskedItsOwnService)
        },
    ]

    /// A caller inside the load: within the loader's call, or in its task.
    private static func loaderAsks(_ run: ClauseRun) async throws -> Caller {
        let asking = Locked<Caller?>(nil)
        let ask: @Sendable () -> Caller = {
            let caller = run.callInside("the loader", insideLoad: true)
            asking.withLock { $0 = caller }
            run.log.check()
            return caller
        }
        run.fixture.loader.insideLoad { _ in _ = ask() }
        run.fixture.loader.duringLoad { _ in
            let caller = ask()
            await run.comes { !caller.answers.isEmpty }
        }
        try await run.call()
        return try await run.given("L1") {
            try await run.nextLoad()
            await run.comes { asking.withLock { $0 } != nil }
            guard let loader = asking.withLock({ $0 }) else {
                throw run.violation("the loader to be called", "it was not")
            }
            return loader
        }
    }
}
