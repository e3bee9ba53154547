import AccessTokenAdapters
import ContractHarness

extension ClauseID {
    static let x1: ClauseID = "X1"
    static let x2: ClauseID = "X2"
    static let x3: ClauseID = "X3"
    static let x4: ClauseID = "X4"
    static let x5: ClauseID = "X5"
}

extension ServiceContract {
    /// A task can be cancelled although its service does not support that.
    private static let callersCannotBeCancelled: @Sendable (ContractSubject) -> String? = { subject in
        let features: ContractFeatures = [.cancellation, .asyncCallers]
        return subject.features.isDisjoint(with: features) ? "not declared: cancellation or asyncCallers" : nil
    }

    static let cancellation = [x1, x2, x3, x4, x5]

    static let x1 = ContractClause(
        (.x1, .serious),
        "answer a cancelled waiter at once, without waiting for the load",
        intent: "a screen that closes must not wait for a server",
        remedy: "wait for the shared load by a continuation of the caller's own, which a cancellation resumes",
        resembles: "okta-mobile-swift: a cancelled waiter returns only after the load",
        needs: .cancellation
    ) { run in
        let leader = try await run.call("leader")
        try await run.firstLoad()
        let joiner = try await run.call("joiner")
        await run.settle()
        for caller in [joiner, leader] {
            try await run.cancel(caller)
            try await run.expectFailure(caller)
        }
    }

    static let x2 = ContractClause(
        (.x2, .critical),
        "never cancel a load because its waiters left (the rotated token would be lost); cache what it brings",
        intent: "the server rotated the refresh token when it answered, whether or not anybody listens",
        remedy: "run the load in a task of its own, which no caller's cancellation reaches",
        resembles: "ktor PR #5193: a cancellation loses the rotated token",
        skips: callersCannotBeCancelled,
        setting: ahead,
        situations: ClauseRun.AwaitedLoad.all
    ) { run, situation in
        try run.takeForGranted(.c1, .s1, .s2)
        let (waiters, load, ended) = try await run.load(situation)
        let token = run.token("T2")
        let callers = waiters + (try await run.calls(2))
        try await run.expectNobody(of: callers, gets: ended)
        await run.settle()
        for caller in callers { try await run.cancel(caller) }
        await run.settle()
        let number = load.number
        try run.expect(load.isOpen, "load \(number) to go on", observed: "the service has cancelled it")
        try await run.answer(load, .success(token))
        await run.settle()
        try await run.expect(run.call("later caller"), getsCached: token)
    }

    static let x3 = ContractClause(
        (.x3, .serious),
        "start no load for a caller that is cancelled already, and answer it",
        intent: "a burst of cancelled work must not rotate tokens for nobody",
        remedy: "check for cancellation before the load is started, and throw there",
        needs: [.cancellation, .asyncCallers]
    ) { run in
        try await run.play([.cancelledCall])
    }

    static let x4 = ContractClause(
        (.x4, .critical),
        "leave the other waiters alone when one is cancelled, the first included",
        intent: "a screen that closes must not fail another screen's request",
        remedy: "run the load in a task of its own, and let a cancellation end one wait",
        resembles: "okta-mobile-swift and soto-core #708: the leader's cancellation fails all waiters",
        skips: callersCannotBeCancelled
    ) { run in
        let token = run.token("T1")
        let leader = try await run.call("leader")
        try await run.firstLoad()
        let (joiner, stayer) = (try await run.call("joiner"), try await run.call("stayer"))
        await run.settle()
        try await run.cancel(joiner)
        try await run.cancel(leader)
        await run.settle()
        // The load may have been cancelled, which is for X2 to judge, and another be running in its place.
        try await run.expect([stayer], getAtLast: token)
    }

    static let x5 = ContractClause(
        (.x5, .minor),
        "answer a cancelled waiter with CancellationError",
        intent: "an app shows no alert for that error, and one for every other",
        remedy: "throw CancellationError, or tell the suite by errors: what stands for it",
        isConvention: true,
        needs: .cancellation
    ) { run in
        let waiter = try await run.call("waiter")
        try await run.firstLoad()
        await run.settle()
        try await run.given(.x1) {
            try await run.cancel(waiter)
            try await run.expectFailure(waiter)
        }
        try await run.expectCancelled(waiter)
    }
}
