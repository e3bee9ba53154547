import AccessTokenAdapters
import ContractHarness

extension ServiceContract {
    static let singleFlight = [
        ContractClause(
            ("S1", .critical),
            "run one load for N concurrent callers, and give all of them its token",
            intent: "two loads with one refresh token look like theft, and the server signs the user out",
            remedy: "decide under one lock, or without an await in between, whether a load is running, and note there "
                + "that it is",
            resembles: "Firebase #15474: 11 refreshes at launch; aws-sdk-swift: an unguarded await in an actor",
            // In rounds 0 and 10 the calls come one after the other, in others on eight threads at once, and in the last
            // ones in lockstep.
            rounds: { ($0.contains(.expiry) ? 14 : 10) + roundsInLockstep($0) }
        ) { run in
            let usual = run.features.contains(.expiry) ? 14 : 10
            if run.round >= usual {
                let token = run.token("T1")
                let callers = try await run.callsInLockstep(4, parts: 1 + run.round - usual, goOnTogether: true)
                let load = try await run.given("L1") { try await run.nextLoad() }
                await run.settle()
                try run.expectOneLoadAtOnce()
                try await run.answer(load, .success(token))
                for caller in callers { try await run.expect(caller, gets: token) }
                return
            }
            let expired = try await run.round < 10 ? nil : run.expiredToken()
            let token = run.token("T1")
            let callers = try await run.round % 10 == 0 ? run.calls(10) : run.callsAtOnce(8)
            try await run.expectNobody(of: callers, gets: expired)
            let load = try await run.given(expired == nil ? "L1" : "C10") { try await run.nextLoad() }
            await run.settle()
            try run.expectOneLoadAtOnce()
            try await run.answer(load, .success(token))
            for caller in callers { try await run.expect(caller, gets: token) }
        },

        ContractClause(
            ("S2", .critical),
            "let a caller that arrives during a load join it",
            intent: "the second of two calls is as dangerous a few milliseconds later as at the same moment",
            remedy: "keep the running load, or its task, where the next caller finds it",
            setting: ahead,
            // In the last rounds the caller has come no further than some parts of its task when the load ends.
            rounds: { ClauseRun.awaitedLoads($0).count + roundsInLockstep($0) }
        ) { run in
            let usual = ClauseRun.awaitedLoads(run.features).count
            if run.round >= usual { return try await joinerIsHeld(run, parts: 1 + run.round - usual) }
            let (_, load, ended) = try await run.awaitedLoad()
            let token = run.token("T2")
            let joiner = try await run.call("joiner")
            try await run.expectNobody(of: [joiner], gets: ended)
            await run.settle()
            try run.expectOneLoadAtOnce()
            try run.expectWaiting(joiner)
            try await run.answer(load, .success(token))
            try await run.expect(joiner, gets: token)
        },

        ContractClause(
            ("S3", .critical),
            "leave a newer load alone when an older one ends: callers that are told of a failure and call again share one load",
            intent: "a newer load that an older one clears runs unseen, and the next caller starts another beside it",
            remedy: "clear the load where it ends, and only if it is still the one that ended",
            resembles: "Firebase PR #15493: an unconditional defer clears a newer task",
            // In the last rounds, callers that were given a token want another one at once.
            rounds: { ($0.contains(.forcedRefresh) ? 3 : 2) * roundsOfCallingAgain($0) }
        ) { run in
            try run.takeForGranted("F5")
            let isForced = run.round >= 2 * roundsOfCallingAgain(run.features)
            let result = isForced ? .success(run.token("T1")) : LoadResult.failed
            _ = try await callersCallAgain(run, whenGiven: result, refresh: isForced)
            try await expectOneLoad(run, startedAsJudgedBy: isForced ? "I6" : "F2", refresh: isForced)
        },

        ContractClause(
            ("S4", .critical),
            "run one load when callers that share a rejected token call again one after the other",
            intent: "a token that the server does not take is common after a change of password, and never comes alone",
            remedy: "clear the load where it ends, and only if it is still the one that ended",
            needs: .invalidation,
            rounds: { 2 * roundsOfCallingAgain($0) }
        ) { run in
            let rejected = run.token("rejected T")
            _ = try await callersCallAgain(run, whenGiven: .success(rejected), rejecting: rejected)
            try await expectOneLoad(run, startedAsJudgedBy: "I1")
        },

        ContractClause(
            ("S5", .critical),
            "keep the load of a new session as it is when a load of the former session ends",
            intent: "a sign-in during a slow load would otherwise run two loads of the new session at once",
            remedy: "give each load a number, and ignore the end of one that is not the current one",
            needs: [.signOut, .signIn],
            skips: { subject in
                newSessionsLoad(subject.features).isEmpty ? "not declared: expiry, invalidation or forcedRefresh" : nil
            },
            rounds: { 2 * ClauseRun.roundsWithBothLoaders(newSessionsLoad($0).count, $0) }
        ) { run in
            let isLate = run.round >= ClauseRun.roundsWithBothLoaders(newSessionsLoad(run.features).count, run.features)
            if !isLate { try run.takeForGranted("F5") }
            let reason = run.situation(of: newSessionsLoad(run.features))
            try await run.call("caller of the former session")
            let older = try await run.firstLoad()
            let (leader, newer) = try await run.given("O6") {
                let token = run.token("S1")
                try await run.signOut()
                try await run.signIn(token)
                if let end = reason { try await run.end(token, by: end) }
                let leader = try await run.call("leader of the new session", refresh: reason == nil)
                if let end = reason { try await run.expectNobody(of: [leader], gets: (token, end)) }
                return (leader, try await run.expectLoad(for: leader))
            }
            let late = LoadResult.success(run.token("late T"))
            try await expectToStay(run, leader, newer, whenEnds: older, with: isLate ? late : nil)
        },

        ContractClause(
            ("S6", .critical),
            "keep a newer load as it is when one that had timed out ends",
            intent: "a slow server is the moment at which loads overlap, and two rotations at once sign the user out",
            remedy: "give each load a number, and ignore the end of one that is not the current one",
            needs: .loadDeadline,
            setting: tenSeconds
        ) { run in
            try run.takeForGranted("F5")
            let (_, older) = try await loadTimesOut(run)
            let leader = try await run.call("leader")
            let newer = try await run.given("T3") { try await run.expectLoad(for: leader) }
            try await expectToStay(run, leader, newer, whenEnds: older)
        },
    ]

    /// Tasks can be held after each of so many parts: an `await` between a look and what comes of it is one of them.
    static func roundsInLockstep(_ features: ContractFeatures) -> Int { features.contains(.asyncCallers) ? 4 : 0 }

    /// A caller that has called during a load goes on after the load's end: the caller gets its token, and no other
    /// load begins.
    private static func joinerIsHeld(_ run: ClauseRun, parts: Int) async throws {
        try run.takeForGranted("C1")
        let token = run.token("T1")
        let leader = try await run.call("leader")
        let load = try await run.firstLoad()
        let joiners = try await run.callsInLockstep(1, parts: parts) {
            // A held task may stand at the door of an actor, which lets nobody else in then: no answer is waited for.
            try await run.answer(load, .success(token))
            await run.settle()
        }
        try await run.given("L1") { try await run.expect(leader, gets: token) }
        for joiner in joiners { try await run.expect(joiner, getsCached: token) }
    }

    /// The next caller joins the newer load although the older one has ended meanwhile.
    private static func expectToStay(
        _ run: ClauseRun,
        _ leader: Caller,
        _ newer: ControlledLoad,
        whenEnds older: ControlledLoad,
        with late: LoadResult? = nil
    ) async throws {
        let isShared = !run.conditions.broken.contains("S1")
        if !isShared {
            // Many a service that breaks S1 does so among many callers only.
            try await run.call("early joiner")
            await run.settle()
            try await run.leaving(to: "S1") { try run.expectLoads(newer.number) }
        }
        try await run.answer(older, late ?? .failure(ContractLoadError(number: older.number)))
        await run.settle()
        try run.expectWaiting(leader)
        try await run.call("joiner")
        await run.settle()
        try run.expectLoads(newer.number)
        let token = run.token("newer T")
        try await run.answer(newer, .success(token))
        if isShared { try await run.expect(leader, gets: token) }
    }

    /// How a new session comes to load: its token becomes useless, or a caller wants another one (`nil`).
    private static func newSessionsLoad(_ features: ContractFeatures) -> [ClauseRun.TokenEnd?] {
        ClauseRun.TokenEnd.all(features) + (features.contains(.forcedRefresh) ? [nil] : [])
    }

    /// Tasks can be held, each for itself, in two of three rounds; the order of handlers is the subject's alone.
    static func roundsOfCallingAgain(_ features: ContractFeatures) -> Int { features.contains(.asyncCallers) ? 3 : 1 }

    /// Callers of a load that did not help them call again at once, while others of them are still being answered.
    ///
    /// In one of three rounds each caller but the first is held when it gets its answer, and in another one the first
    /// alone. They go on when the others have called again, and have a load or an answer: what they clear then is not
    /// their own.
    static func callersCallAgain(
        _ run: ClauseRun,
        whenGiven result: LoadResult,
        rejecting rejected: AccessToken? = nil,
        andThen second: AccessToken? = nil,
        refresh: Bool = false
    ) async throws -> [Caller] {
        let again = Locked<[Caller]>([])
        let held = [0..<0, 1..<6, 0..<1][run.round % roundsOfCallingAgain(run.features)]
        var callers: [Caller] = []
        for number in 0..<6 {
            let priority: TaskPriority? = held.isEmpty ? nil : held.contains(number) ? .low : .high
            let caller = try await run.call(priority: priority) { caller in
                run.callAgain(rejecting: rejected, refresh: refresh, for: caller) { next in
                    again.withLock { $0.append(next) }
                }
            }
            callers.append(caller)
            // On the way into an actor, others would overtake the first caller: it would not be the one that loads.
            if number == 0 { try await run.firstLoad() }
        }
        let load = run.fixture.loader.loads[0]
        await run.settle()
        try await run.given("S1") { try run.expectOneLoadAtOnce() }
        for caller in callers[held] { caller.lane.hold() }
        try await run.given(rejected == nil ? "D10" : "D5") { try await run.answer(load, result) }
        let (loader, others) = (run.fixture.loader, callers.count - held.count)
        await run.comes {
            let again = again.withLock { $0 }
            return again.count >= others && (loader.loads.count > 1 || again.allSatisfy { !$0.answers.isEmpty })
        }
        await run.settle()
        if let second {
            let load = try await run.given("I1") { try await run.nextLoad() }
            try await run.answer(load, .success(second))
            await run.settle()
        }
        for caller in callers[held] {
            caller.lane.release()
            await run.settle()
        }
        return again.withLock { $0 }
    }

    /// Another caller joins the load of those who called again.
    private static func expectOneLoad(
        _ run: ClauseRun,
        startedAsJudgedBy clause: String,
        refresh: Bool = false
    ) async throws {
        _ = try await run.given(clause) { try await run.nextLoad() }
        await run.settle()
        try await run.call("joiner", refresh: refresh)
        await run.settle()
        try run.expectOneLoadAtOnce()
    }
}

extension ClauseRun {
    /// Calls again where a caller was answered, after a rejection if there is one to make: inside its handler, or in a
    /// task.
    func callAgain(
        rejecting rejected: AccessToken?,
        refresh: Bool,
        for caller: Caller,
        then called: @escaping @Sendable (Caller) -> Void
    ) {
        let name = "\(caller.name), again"
        guard let rejected, let service = service.withLock({ $0 }), let invalidate = service.invalidate else {
            return called(callInside(name, refresh: refresh, priority: .high))
        }
        let reject: @Sendable () async -> Void = { [self] in
            log.happened("\(log.name(rejected)) is rejected")
            await invalidate(rejected)
            called(callInside(name, priority: .high))
            log.check()
        }
        switch service.call {
        case .handler: Lane.startHere(reject)
        case .task: caller.lane.start(priority: .high, reject)
        }
    }
}
