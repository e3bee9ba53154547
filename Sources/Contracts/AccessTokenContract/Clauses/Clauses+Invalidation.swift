import AccessTokenAdapters
import ContractHarness

extension ClauseID {
    static let i1: ClauseID = "I1"
    static let i2: ClauseID = "I2"
    static let i3: ClauseID = "I3"
    static let i4: ClauseID = "I4"
    static let i5: ClauseID = "I5"
    static let i6: ClauseID = "I6"
    static let i7: ClauseID = "I7"
    static let i8: ClauseID = "I8"
    static let i9: ClauseID = "I9"
}

extension ServiceContract {
    private enum ForcedRefreshes: ClauseSituation {
        case together(Crowd)
        case beside(ClauseRun.LoadKind)
        /// The cached token ends during a forced refresh, and usual callers come.
        case joinedAfter(ClauseRun.TokenEnd)

        var name: String {
            switch self {
            case .together(let crowd): crowd.name
            case .beside(let load): "\(load.rawValue) is running"
            case .joinedAfter(let end): "the cached token \(end.rawValue) during a forced refresh"
            }
        }

        static func all(_ features: ContractFeatures) -> [ForcedRefreshes] {
            Crowd.all(timesAtOnce: 4, features).map(together) + ClauseRun.LoadKind.all(features).map(beside)
                + ClauseRun.TokenEnd.all(features).map(joinedAfter)
        }
    }

    private struct AfterARejection: ClauseSituation {
        let held: HeldCallers
        /// The next token is there before those who are held go on.
        let hasSuccessor: Bool

        var name: String { held.name + (hasSuccessor ? ", until the next token is there" : "") }
    }

    static let invalidation = [i1, i2, i3, i4, i5, i6, i7, i8, i9]

    static let i1 = ContractClause(
        (.i1, .critical),
        "load at the next call after the current token was invalidated",
        intent: "a server may revoke a token at any time, and only its 401 tells",
        remedy: "forget the token when it is rejected",
        needs: .invalidation,
        situations: ClauseRun.TokenOrigin.all
    ) { run, origin in
        let token = run.token("T1", life: run.features.contains(.tokensAlwaysExpire) ? 3600 : nil)
        try await run.cache(token, from: origin)
        try await run.invalidate(token)
        try await run.expect(run.call(), getsLoaded: run.token("T2"))
    }

    static let i2 = ContractClause(
        (.i2, .serious),
        "ignore the invalidation of a token that is no longer the current one",
        intent: "the fifty-first 401 for an old token must not throw away the token that replaced it",
        remedy: "compare the rejected token with the current one",
        needs: .invalidation
    ) { run in
        try run.takeForGranted(.c1)
        let second: [Step] = [.call, .answer(.token), .reject(.current), .call, .answer(.token)]
        try await run.play(Script(.plain, second + [.reject(.former), .call]))
    }

    static let i3 = ContractClause(
        (.i3, .critical),
        "run one load when N callers reject the same token",
        intent: "requests that were sent together are rejected together",
        remedy: "compare the rejected token with the current one, and join a load that is running",
        resembles: "Alamofire #3950: a double refresh",
        needs: .invalidation,
        situations: { Crowd.all(timesAtOnce: 4, $0) }
    ) { run, crowd in
        try run.takeForGranted(.s1)
        let token = run.token("T1")
        try await run.cache(token)
        switch crowd {
        case .inTurn:
            for _ in 0..<4 { try await run.invalidate(token) }
            try await run.calls(4)
            // Who is told later rejects the token while its successor is loaded.
            for _ in 0..<4 {
                try await run.invalidate(token)
                _ = try await run.call()
            }
        case .atOnce:
            run.log.happened("T1 is rejected eight times")
            try await run.callsAtOnce(8) { await $0.invalidate?(token) }
        case .inLockstep(let parts):
            _ = try await run.callsInLockstep(2, parts: parts, rejecting: token)
        }
        _ = try await run.given(.i1) { try await run.nextLoad() }
        await run.settle()
        try run.expectOneLoadAtOnce()
    }

    static let i4 = ContractClause(
        (.i4, .minor),
        "tell the loader which token it replaces",
        intent: "a loader that several processes share can adopt what another one has loaded",
        remedy: "pass the rejected or expired token on, where your loader takes one",
        isConvention: true,
        needs: .invalidation
    ) { run in
        let token = run.token("T1")
        try await run.cache(token)
        let load = try await run.given(.i1) {
            try await run.invalidate(token)
            return try await run.expectLoad(for: run.call())
        }
        let isTold = load.replacing?.value == token.value
        let observed = load.replacing.map { "it replaces \(run.log.name($0))" } ?? "load(replacing: nil)"
        try run.expect(isTold, "load 2 to be told that it replaces T1", observed: observed)
    }

    static let i5 = ContractClause(
        (.i5, .critical),
        "let callers that learn of the rejection during the next load join that load",
        intent: "requests that were sent together are answered one after the other",
        remedy: "leave a running load alone when a token is rejected that it replaces",
        needs: .invalidation
    ) { run in
        try run.takeForGranted(.s1)
        let token = run.token("T1")
        try await run.cache(token)
        let load = try await run.given(.i1) {
            try await run.invalidate(token)
            return try await run.expectLoad(for: run.call("early rejecter"))
        }
        try await run.invalidate(token)
        try await run.call("late rejecter")
        await run.settle()
        try run.expectLoads(load.number)
    }

    static let i6 = ContractClause(
        (.i6, .critical),
        "load at a forced refresh although the cached token is valid",
        intent: "a caller that knows better than the clock gets the same useless token again",
        remedy: "look at the cache only if no refresh is forced",
        needs: .forcedRefresh,
        situations: ClauseRun.TokenOrigin.inScripts
    ) { run, origin in
        try await run.play(Script(.plain, from: origin, [.refresh, .answer(.token)]))
    }

    static let i7 = ContractClause(
        (.i7, .critical),
        "run one load for N concurrent forced refreshes, also beside a load that is running",
        intent: "two loads with one refresh token look like theft, and the server signs the user out",
        remedy: "join a load that is running, also at a forced refresh",
        resembles: "Firebase #15474: 11 refreshes at launch",
        needs: .forcedRefresh,
        setting: ahead,
        situations: ForcedRefreshes.all
    ) { run, refreshes in
        try run.takeForGranted(.s1)
        switch refreshes {
        case .together(let crowd):
            try await run.cache(run.token("T1"))
            switch crowd {
            case .inTurn: try await run.calls(8, refresh: true)
            case .atOnce: try await run.callsAtOnce(8, refresh: true)
            case .inLockstep(let parts): _ = try await run.callsInLockstep(2, parts: parts, refresh: true)
            }
            _ = try await run.given(.i6) { try await run.nextLoad() }
        case .beside(let load):
            _ = try await run.runningLoad(load)
            try await run.calls(3, refresh: true)
        case .joinedAfter(let end):
            let (_, _, cached) = try await run.runningLoad(.forced)
            if let cached { try await run.end(cached, by: end) }
            try await run.calls(3)
        }
        await run.settle()
        try run.expectOneLoadAtOnce()
    }

    static let i8 = ContractClause(
        (.i8, .critical),
        "hand a rejected token to no later caller, even while others are still being given that token",
        intent: "a request that tries again with the refused token fails again, and the app signs the user out",
        remedy: "clear the load where it ends, and not where its first caller goes on",
        needs: .invalidation,
        situations: { features in
            [false, true].flatMap { hasSuccessor in
                HeldCallers.all(features).map { AfterARejection(held: $0, hasSuccessor: hasSuccessor) }
            }
        }
    ) { run, situation in
        try run.takeForGranted(.i1, .s1)
        let rejected = run.token("T1")
        guard !situation.hasSuccessor else {
            try run.takeForGranted(.i2, .c1, .s4)
            let new = run.token("T2")
            _ = try await callersCallAgain(
                run,
                holding: situation.held,
                whenGiven: .success(rejected),
                rejecting: rejected,
                andThen: new
            )
            return try await run.expect(run.call("late caller"), gets: new)
        }
        let again = try await callersCallAgain(
            run,
            holding: situation.held,
            whenGiven: .success(rejected),
            rejecting: rejected
        )
        let isGone = !again.contains { $0.answers.first?.token?.value == rejected.value }
        try run.expect(isGone, "callers not to get T1 after its rejection", observed: "one of them gets it")
    }

    static let i9 = ContractClause(
        (.i9, .critical),
        "load once more if a load brings the token that was rejected while the load ran",
        intent: "the waiters' requests fail with a token that the server has refused, and nothing replaces it",
        remedy:
            "compare what a load brings with the last rejected token; hand it out if the next load brings it again",
        isConvention: true,
        needs: [.invalidation, .refreshAhead, .expiry],
        skips: { $0.promises.contains(.i9) ? nil : "not promised" }
    ) { run in
        try run.takeForGranted(.c5, .i1)
        let rejected: [Step] = [.call, .answer(.token), .pass(.freshness), .call, .reject(.current), .call]
        try await run.play(Script(.ahead, rejected + [.answer(.identicalToken), .answer(.identicalToken)]))
    }
}
