import AccessTokenAdapters
import ContractHarness
import Foundation

extension ClauseID {
    static let l1: ClauseID = "L1"
    static let c1: ClauseID = "C1"
    static let c2: ClauseID = "C2"
    static let c3: ClauseID = "C3"
    static let c4: ClauseID = "C4"
    static let c5: ClauseID = "C5"
    static let c6: ClauseID = "C6"
    static let c7: ClauseID = "C7"
    static let c8: ClauseID = "C8"
    static let c9: ClauseID = "C9"
    static let c10: ClauseID = "C10"
    static let c11: ClauseID = "C11"
}

extension ServiceContract {
    private static let leeway = ClauseSetting(.leeway)
    /// With a window of five minutes in which the next token is loaded beside the answer.
    static let ahead = ClauseSetting(.ahead)

    /// What the service was made with.
    private enum InitialToken: String, ClauseSituation {
        case valid = "the token that the service is made with is valid"
        case expired = "the token that the service is made with has expired"
        case expiresLater = "the token that the service is made with expires later"
    }

    static let caching = [l1, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11]

    static let l1 = ContractClause(
        (.l1, .critical),
        "load for a caller that finds no valid token, and give the caller the token that the load brings",
        intent: "a service that does not do this does nothing",
        remedy: "call the fixture's loader where your service asks its server, and pass the answer on"
    ) { run in
        let token = run.token("T1")
        let caller = try await run.call()
        try await run.answer(run.nextLoad(), .success(token))
        try await run.expect(caller, gets: token)
    }

    static let c1 = ContractClause(
        (.c1, .serious),
        "answer from a valid cached token without a load",
        intent: "a load for each call is slow, and a rotation of the refresh token for each call",
        remedy: "keep the token that a load brings, and look at it before anything else"
    ) { run in
        try await run.play([.call, .answer(.token), .call, .call, .call])
    }

    static let c2 = ContractClause(
        (.c2, .serious),
        "treat a token as expired from expiration − leeway on",
        intent: "a token that expires on its way to the server is a 401 for the user",
        remedy: "compare the clock with expiration − leeway, at each call",
        needs: [.expiry, .leeway],
        situations: ClauseRun.TokenOrigin.inScripts
    ) { run, origin in
        try await run.play(Script(.leeway, from: origin, [.pass(.leeway), .call, .answer(.token)]))
    }

    static let c3 = ContractClause(
        (.c3, .serious),
        "keep a token without expiration until it is invalidated",
        intent: "expires_in is optional (RFC 6749, section 5.1), and guessing one breaks sessions",
        remedy: "treat a missing expiration as none, or declare tokensAlwaysExpire if the server never omits it",
        skips: { $0.features.contains(.tokensAlwaysExpire) ? "its tokens always expire" : nil },
        situations: ClauseRun.TokenOrigin.all
    ) { run, origin in
        try run.takeForGranted(.c1)
        let token = run.token("T1", life: nil)
        try await run.cache(token, from: origin)
        // A day of timers, and ten years of the wall clock: a service may have a timer that fires every few seconds.
        // Half of the day comes after the jump, since a timer may look at the wall clock.
        try await run.advance(by: 43_200)
        run.log.happened("the clock is set forward by ten years")
        run.fixture.clock.setWallClock(to: run.fixture.clock.now.addingTimeInterval(315_576_000))
        try await run.advance(by: 43_200)
        try await run.expect(run.call(), getsCached: token)
    }

    static let c4 = ContractClause(
        (.c4, .serious),
        "never let the leeway use up more than half of a token's life, so that a short-lived token does not load "
            + "on every call",
        intent: "with tokens that live shorter than the leeway, every call would rotate the refresh token",
        remedy: "use the smaller of the leeway and half of the token's life",
        isConvention: true,
        needs: [.expiry, .leeway],
        setting: leeway
    ) { run in
        try run.takeForGranted(.c1)
        let token = run.token("T1", life: 10)
        try await run.cache(token)
        try await run.expect(run.call(), getsCached: token)
        try await run.advance(by: 4.5)
        try await run.expect(run.call(), getsCached: token)
    }

    static let c5 = ContractClause(
        (.c5, .minor),
        "inside the refresh-ahead window answer at once with the present token, and load the next one once",
        intent: "nobody waits for a token that is only going to expire",
        remedy: "start the load beside the answer, unless one is running",
        needs: [.expiry, .refreshAhead],
        setting: ahead,
        situations: ClauseRun.TokenOrigin.all
    ) { run, origin in
        try run.takeForGranted(.c1)
        let token = try await run.oldToken(from: origin, secondsLeft: 200)
        for caller in try await run.calls(4) { try await run.expect(caller, gets: token) }
        try await run.nextLoad()
        await run.settle()
        try run.expectOneLoadAtOnce()
    }

    static let c6 = ContractClause(
        (.c6, .critical),
        "never hand out a token that has expired",
        intent: "every request with it fails, until somebody signs in again",
        remedy: "compare the clock with the expiration at each call, not only when the token arrives",
        needs: .expiry,
        situations: ClauseRun.TokenOrigin.inScripts
    ) { run, origin in
        try await run.play(Script(.plain, from: origin, [.pass(.life), .call]))
    }

    static let c7 = ContractClause(
        (.c7, .minor),
        "count the instant of expiration − leeway itself as expired, and none before it",
        intent: "who reads the policy knows to the instant which token a call gets",
        remedy: "use ≤ where < is, or the other way round",
        isConvention: true,
        needs: [.expiry, .leeway],
        setting: leeway
    ) { run in
        try run.takeForGranted(.c2, .c1)
        let token = run.token("T1", life: 3600)
        try await run.cache(token)
        try await run.advance(by: 3569.5)
        try await run.expect(run.call(), getsCached: token)
        try await run.advance(by: 0.5)
        try await run.expectLoad(for: run.call())
    }

    static let c8 = ContractClause(
        (.c8, .serious),
        "keep the valid token when the load of its successor fails",
        intent: "a server that is away for a moment must not cost a token that still works",
        remedy: "touch the cached token only when a load brings another one",
        needs: [.expiry, .refreshAhead],
        situations: ClauseRun.TokenOrigin.inScripts
    ) { run, origin in
        try await run.play(Script(.ahead, from: origin, [.pass(.freshness), .call, .answer(.failure), .call]))
    }

    static let c9 = ContractClause(
        (.c9, .serious),
        "hand out the successor that was loaded inside the refresh-ahead window",
        intent: "the server has rotated the refresh token for it: throwing it away signs the user out",
        remedy: "cache what a load brings, also if nobody waits for it",
        needs: [.expiry, .refreshAhead],
        setting: ahead,
        situations: ClauseRun.TokenOrigin.all
    ) { run, origin in
        let second = run.token("T2", life: 9000)
        let first = try await run.oldToken(from: origin, secondsLeft: 200)
        try await run.given(.c5) {
            try await run.expect(run.call(), gets: first)
            try await run.answer(run.nextLoad(), .success(second))
        }
        // The token reaches the subject in its own time.
        let hasCome = try await run.poll {
            try await run.answer(of: run.call(), expecting: "a token").token?.value == second.value
        }
        try run.expect(hasCome, "later callers to get T2", observed: "they get T1")
    }

    static let c10 = ContractClause(
        (.c10, .critical),
        "bring a new token at the next call after the token has expired",
        intent: "a session whose every call fails after an hour ends there",
        remedy: "load when the cached token has expired, and give the caller what the load brings",
        resembles: "OAuthenticator #13: after expiry every call fails",
        needs: .expiry,
        situations: ClauseRun.TokenOrigin.inScripts
    ) { run, origin in
        try await run.play(Script(.plain, from: origin, [.pass(.life), .call, .answer(.token)]))
    }

    static let c11 = ContractClause(
        (.c11, .serious),
        "hand out the token that the service is made with while it is valid, and load when it has expired",
        intent:
            "an app that was closed would rotate its refresh token at each launch, or begin with a token that fails",
        remedy: "give the initialiser the stored token, and treat the token as one that a load has brought",
        needs: .initialToken,
        situations: { [InitialToken.valid] + ($0.contains(.expiry) ? [.expired, .expiresLater] : []) }
    ) { run, initialToken in
        try run.takeForGranted(.c1)
        switch initialToken {
        case .valid: try await run.play(Script(initialToken: .valid, [.call, .call]))
        case .expired:
            try run.takeForGranted(.c6, .c10)
            try await run.play(Script(initialToken: .expired, [.call, .answer(.token), .call]))
        case .expiresLater:
            try run.takeForGranted(.c6, .c10)
            try await run.play(Script(initialToken: .valid, [.pass(.life), .call, .answer(.token), .call]))
        }
    }
}
