import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness

extension ClauseID {
    static let s1: ClauseID = "S1"
    static let s2: ClauseID = "S2"
    static let s3: ClauseID = "S3"
    static let s4: ClauseID = "S4"
    static let s5: ClauseID = "S5"
    static let s6: ClauseID = "S6"
    static let s7: ClauseID = "S7"
    static let s8: ClauseID = "S8"
}

extension ServiceContract {
    /// What a report says below S1 to S3, lest they are taken for more than they are.
    private static let loadsAlone = """
        one load at a time. Which refresh token a load sends is not seen: if the store of your service is written after \
        the load counts as ended, the next load sends a used one
        """

    /// How callers come.
    enum Crowd: ClauseSituation {
        case inTurn
        /// On eight threads.
        case atOnce
        /// Tasks are held after so many parts: an `await` between a look and what comes of it is one of them.
        case inLockstep(parts: Int)

        var name: String {
            switch self {
            case .inTurn: "callers come one after the other"
            case .atOnce: "callers come on eight threads at once"
            case .inLockstep(let parts): "each caller is held after part \(parts) of its task"
            }
        }

        /// Threads cannot be ordered, and are tried several times.
        static func threaded(timesAtOnce: Int) -> [Crowd] { [.inTurn] + repeatElement(.atOnce, count: timesAtOnce) }

        static func lockstep(_ features: ContractFeatures) -> [Crowd] {
            features.contains(.asyncCallers) ? (1...4).map(inLockstep) : []
        }

        static func all(timesAtOnce: Int, _ features: ContractFeatures) -> [Crowd] {
            threaded(timesAtOnce: timesAtOnce) + lockstep(features)
        }
    }

    private struct FirstCallers: ClauseSituation {
        let crowd: Crowd
        let findExpired: Bool

        var name: String { crowd.name + (findExpired ? ", and find an expired token" : "") }
    }

    /// A caller has come no further than so many parts of its task when the load ends.
    private struct HeldJoiner: ClauseSituation {
        let parts: Int

        var name: String { "the caller is held after part \(parts) of its task until the load has ended" }
    }

    private struct CallingAgain: ClauseSituation {
        let held: HeldCallers
        /// Callers are given a token and want another one, instead of an error.
        let isForced: Bool

        var name: String {
            "callers \(isForced ? "want another token than they got" : "are told of a failure"), \(held.name)"
        }
    }

    private struct NewSession: ClauseSituation {
        /// How the new session comes to load: its token becomes useless, or a caller wants another one (`nil`).
        let reason: ClauseRun.TokenEnd?
        /// The former session's load brings a token; if not, the load fails.
        let isLate: Bool

        var name: String {
            let why = reason.map { "the new session's token \($0.rawValue)" } ?? "a caller wants another token"
            return "\(why), and the former session's load \(isLate ? "brings a token" : "fails")"
        }

        static func reasons(_ features: ContractFeatures) -> [ClauseRun.TokenEnd?] {
            ClauseRun.TokenEnd.all(features) + (features.contains(.forcedRefresh) ? [nil] : [])
        }
    }

    static let singleFlight = [s1, s2, s3, s4, s5, s6, s7, s8]

    static let s1 = ContractClause(
        (.s1, .critical),
        "run one load for N concurrent callers, and give all of them its token",
        intent: "two loads with one refresh token look like theft, and the server signs the user out",
        remedy: "decide under one lock, or without an await in between, whether a load is running, and note there "
            + "that it is",
        resembles: "Firebase #15474: 11 refreshes at launch; aws-sdk-swift: an unguarded await in an actor",
        unseen: loadsAlone,
        situations: { features in
            let expired = features.contains(.expiry) ? Crowd.threaded(timesAtOnce: 3) : []
            return Crowd.threaded(timesAtOnce: 9).map { FirstCallers(crowd: $0, findExpired: false) }
                + expired.map { FirstCallers(crowd: $0, findExpired: true) }
                + Crowd.lockstep(features).map { FirstCallers(crowd: $0, findExpired: false) }
        }
    ) { run, situation in
        let expired = try await situation.findExpired ? run.expiredToken() : nil
        let token = run.token("T1")
        let callers =
            switch situation.crowd {
            case .inTurn: try await run.calls(10)
            case .atOnce: try await run.callsAtOnce(8)
            case .inLockstep(let parts): try await run.callsInLockstep(4, parts: parts, goOnTogether: true)
            }
        try await run.expectNobody(of: callers, gets: expired)
        let load = try await run.given(expired == nil ? .l1 : .c10) { try await run.nextLoad() }
        await run.settle()
        try run.expectOneLoadAtOnce()
        try await run.answer(load, .success(token))
        for caller in callers { try await run.expect(caller, gets: token) }
    }

    static let s2 = ContractClause(
        (.s2, .critical),
        "let a caller that arrives during a load join it",
        intent: "the second of two calls is as dangerous a few milliseconds later as at the same moment",
        remedy: "keep the running load, or its task, where the next caller finds it",
        unseen: loadsAlone,
        setting: ahead,
        situations: ClauseRun.AwaitedLoad.all
    ) { run, situation in
        let (_, load, ended) = try await run.load(situation)
        let token = run.token("T2")
        let joiner = try await run.call("joiner")
        try await run.expectNobody(of: [joiner], gets: ended)
        await run.settle()
        try run.expectOneLoadAtOnce()
        try run.expectWaiting(joiner)
        try await run.answer(load, .success(token))
        try await run.expect(joiner, gets: token)
    }

    static let s3 = ContractClause(
        (.s3, .critical),
        "leave a newer load alone when an older one ends: callers that are told of a failure and call again share one load",
        intent: "a newer load that an older one clears runs unseen, and the next caller starts another beside it",
        remedy: "clear the load where it ends, and only if it is still the one that ended",
        resembles: "Firebase PR #15493: an unconditional defer clears a newer task",
        unseen: loadsAlone,
        situations: { features in
            let times = features.contains(.forcedRefresh) ? [false, false, true] : [false, false]
            return times.flatMap { isForced in
                HeldCallers.all(features).map { CallingAgain(held: $0, isForced: isForced) }
            }
        }
    ) { run, situation in
        try run.takeForGranted(.f5)
        let isForced = situation.isForced
        let result = isForced ? .success(run.token("T1")) : LoadResult.failed
        _ = try await callersCallAgain(run, holding: situation.held, whenGiven: result, refresh: isForced)
        try await expectOneLoad(run, startedAsJudgedBy: isForced ? .i6 : .f2, refresh: isForced)
    }

    static let s4 = ContractClause(
        (.s4, .critical),
        "run one load when callers that share a rejected token call again one after the other",
        intent: "a token that the server does not take is common after a change of password, and never comes alone",
        remedy: "clear the load where it ends, and only if it is still the one that ended",
        needs: .invalidation,
        situations: { HeldCallers.all($0) + HeldCallers.all($0) }
    ) { run, held in
        let rejected = run.token("rejected T")
        _ = try await callersCallAgain(run, holding: held, whenGiven: .success(rejected), rejecting: rejected)
        try await expectOneLoad(run, startedAsJudgedBy: .i1)
    }

    static let s5 = ContractClause(
        (.s5, .critical),
        "keep the load of a new session as it is when a load of the former session ends",
        intent: "a sign-in during a slow load would otherwise run two loads of the new session at once",
        remedy: "give each load a number, and ignore the end of one that is not the current one",
        needs: [.signOut, .signIn],
        skips: { subject in
            let canLoad = !NewSession.reasons(subject.features).isEmpty
            return canLoad ? nil : "not declared: expiry, invalidation or forcedRefresh"
        },
        situations: { features in
            [false, true].flatMap { isLate in
                let sessions = NewSession.reasons(features).map { NewSession(reason: $0, isLate: isLate) }
                return ClauseRun.WithLoader.all(sessions, features)
            }
        }
    ) { run, situation in
        let (reason, isLate) = (situation.base.reason, situation.base.isLate)
        if !isLate { try run.takeForGranted(.f5) }
        let result = isLate ? .success(run.token("late T")) : LoadResult.failed
        try await expectNewerLoadToStay(run, whenOlderEndsWith: result) { run in
            run.use(situation.loader)
            try await run.call("caller of the former session")
            let older = try await run.firstLoad()
            // A late event would be taken for one of the sign-out.
            await run.settle()
            return try await run.given(.o6) {
                let token = run.token("S1")
                try await run.signOut()
                try await run.signIn(token)
                if let end = reason { try await run.end(token, by: end) }
                let leader = try await run.call("leader of the new session", refresh: reason == nil)
                if let end = reason { try await run.expectNobody(of: [leader], gets: (token, end)) }
                let loader = run.fixture.loader
                if await run.comes({ !leader.answers.isEmpty || loader.loads.count > 1 }) {
                    return (older, leader, try await run.expectLoad(for: leader))
                }
                // A service may let the new session's load wait until the former one has ended.
                try await run.answer(older, result)
                return (nil, leader, try await run.expectLoad(for: leader))
            }
        }
    }

    static let s6 = ContractClause(
        (.s6, .critical),
        "keep a newer load as it is when one that had timed out ends",
        intent: "a slow server is the moment at which loads overlap, and two rotations at once sign the user out",
        remedy: "give each load a number, and ignore the end of one that is not the current one",
        needs: .loadDeadline,
        setting: tenSeconds
    ) { run in
        try run.takeForGranted(.f5)
        try await expectNewerLoadToStay(run, whenOlderEndsWith: .failed) { run in
            let (_, older) = try await loadTimesOut(run)
            let leader = try await run.call("leader")
            return (older, leader, try await run.given(.t3) { try await run.expectLoad(for: leader) })
        }
    }

    static let s7 = ContractClause(
        (.s7, .serious),
        "give a caller that has come during a load the token of that load, also if the caller goes on after its end",
        intent: "the server is asked once more for each caller that looked a moment too early",
        remedy: "look at the cached token and at the running load without an await in between",
        needs: .asyncCallers,
        situations: { _ in (1...4).map(HeldJoiner.init) }
    ) { run, held in
        try run.takeForGranted(.c1, .s1, .s2)
        let token = run.token("T1")
        let leader = try await run.call("leader")
        let load = try await run.firstLoad()
        let joiners = try await run.callsInLockstep(1, parts: held.parts) {
            try await run.answer(load, .success(token))
            await run.settle()
            // A held task may stand at the door of an actor, which lets nobody else in then: the answer is waited
            // for, but not for long.
            _ = await run.log.wait(0.1) { !leader.answers.isEmpty }
        }
        try await run.given(.l1) { try await run.expect(leader, gets: token) }
        for joiner in joiners { try await run.expect(joiner, getsCached: token) }
    }

    static let s8 = ContractClause(
        (.s8, .critical),
        "start no other load while the token that a load has brought is kept and handed out",
        intent:
            "the second load sends the refresh token that the first one has just used, and the server signs the user "
            + "out",
        remedy: "keep the load, or its flag, until the new token is where the next caller looks and the store has it",
        situations: { features in
            let times = repeatElement(HandingOut.amidCalls, count: 5)
            return features.contains(.asyncCallers) ? Array(times) : times + [.slowHandler]
        }
    ) { run, situation in
        try run.takeForGranted(.c1, .s1, .s2)
        guard situation == .slowHandler else {
            return try await run.play([.call, .answerAmidCalls, .call])
        }
        let token = run.token("T1")
        let callers = try await run.callsDuringAHandler(answeredWith: .success(token))
        await run.settle()
        try run.expectLoads(1)
        for caller in callers { try await run.expect(caller, gets: token) }
    }

    /// What is slow while the load's token is handed out.
    private enum HandingOut: String, ClauseSituation {
        case amidCalls = "callers come on four threads when the load answers, and some milliseconds later"
        case slowHandler = "callers come on three threads while the first caller's handler runs"
    }

    /// A load that was given up, unless it has ended already, and the leader of a newer one.
    private typealias TwoLoads = (older: ControlledLoad?, leader: Caller, newer: ControlledLoad)

    /// The next caller joins the newer load although the older one has ended meanwhile.
    ///
    /// A service that breaks S1 may share loads now and then. Only if the next caller joins where the older load goes
    /// on, three times in a row, it is the end of that load that counts.
    ///
    /// A newer load that began at the end of the older one is joined as well.
    private static func expectNewerLoadToStay(
        _ run: ClauseRun,
        whenOlderEndsWith result: LoadResult,
        _ begin: (ClauseRun) async throws -> TwoLoads
    ) async throws {
        for _ in 0..<(run.conditions.broken.contains(.s1) ? 3 : 0) {
            let twin = run.twin()
            defer { twin.end() }
            try await twin.begin()
            let loads = try await begin(twin)
            try await twin.leaving(to: .s1) { try await expectToJoin(twin, loads) }
        }
        let loads = try await begin(run)
        if let older = loads.older { try await run.answer(older, result) }
        try await expectToJoin(run, loads)
    }

    private static func expectToJoin(_ run: ClauseRun, _ loads: TwoLoads) async throws {
        await run.settle()
        try run.expectWaiting(loads.leader)
        try await run.call("joiner")
        await run.settle()
        try run.expectLoads(loads.newer.number)
        let token = run.token("newer T")
        try await run.answer(loads.newer, .success(token))
        if !run.conditions.broken.contains(.s1) { try await run.expect(loads.leader, gets: token) }
    }

    /// Another caller joins the load of those who called again.
    private static func expectOneLoad(
        _ run: ClauseRun,
        startedAsJudgedBy clause: ClauseID,
        refresh: Bool = false
    ) async throws {
        _ = try await run.given(clause) { try await run.nextLoad() }
        await run.settle()
        try await run.call("joiner", refresh: refresh)
        await run.settle()
        try run.expectOneLoadAtOnce()
    }
}
