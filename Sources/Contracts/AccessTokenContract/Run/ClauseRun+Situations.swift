import AccessTokenAdapters
import ContractHarness

/// The situations from which scenarios begin: where the token comes from, and why a load is running.
extension ClauseRun {
    /// Where a cached token came from.
    enum TokenOrigin: CaseIterable {
        case load, signIn
    }

    /// Where the cached token comes from in this round of a clause that has one for each.
    var origin: TokenOrigin { TokenOrigin.allCases[round] }

    /// Why a load is running: there was no token, the token comes to its end, or a caller wants another one.
    enum LoadKind {
        case first, ahead, forced

        /// Those that a subject knows; the first load comes first.
        static func all(_ features: ContractFeatures) -> [LoadKind] {
            var kinds: [LoadKind] = [.first]
            if features.isSuperset(of: [.expiry, .refreshAhead]) { kinds.append(.ahead) }
            if features.contains(.forcedRefresh) { kinds.append(.forced) }
            return kinds
        }
    }

    /// How a cached token can be made useless: the next caller needs a load.
    enum TokenEnd {
        case expiry, invalidation

        /// The clause that judges whether the token is handed out after this.
        var judge: String { self == .expiry ? "C6" : "I1" }

        static func all(_ features: ContractFeatures) -> [TokenEnd] {
            (features.contains(.expiry) ? [.expiry] : []) + (features.contains(.invalidation) ? [.invalidation] : [])
        }
    }

    /// So many rounds, and as many again if the loader may be async: real loaders often ignore their task's
    /// cancellation.
    static func roundsWithBothLoaders(_ count: Int, _ features: ContractFeatures) -> Int {
        features.contains(.callbackLoader) ? count : 2 * count
    }

    /// The situation of this round; in the second half of the rounds the loader ignores cancellation.
    func situation<Situation>(of all: [Situation]) -> Situation {
        if round >= all.count { fixture.loader.ignoreCancellation() }
        return all[round % all.count]
    }

    /// A new service with this token in its cache, brought by a load or by a sign-in.
    func cache(_ token: AccessToken, from origin: TokenOrigin = .load) async throws {
        if origin == .load { _ = try await loaded(token) } else { try await signInAndTakeLoads(token) }
    }

    /// A sign-in, and the end of the loads that nobody asked for.
    ///
    /// A service may load by itself before the sign-in, or right after it. Such a load brings the token of the sign-in:
    /// whether the service takes or drops what the load brings, that token is cached, and nothing runs.
    private func signInAndTakeLoads(_ token: AccessToken) async throws {
        try await signIn(token)
        await settle()
        // A service that loads for ever is for others to judge.
        for _ in 0..<5 where !openLoads.isEmpty {
            for load in openLoads { try await answer(load, .success(token)) }
            await settle()
        }
        takenLoads = fixture.loader.loads.count
        unaskedLoads = takenLoads
    }

    /// A token that is cached since it came, by a load or by a sign-in, and has so many seconds of its hour left.
    func oldToken(secondsLeft: Double) async throws -> AccessToken {
        let token = token("T1")
        try await cache(token, from: origin)
        try await advance(by: 3600 - secondsLeft)
        return token
    }

    /// A token that is cached, and has expired.
    func expiredToken() async throws -> EndedToken {
        let token = token("expired T")
        try await cache(token)
        try await end(token, by: .expiry)
        return (token, .expiry)
    }

    /// A load that has brought this token, and the caller that got it.
    func loaded(_ token: AccessToken) async throws -> (caller: Caller, load: ControlledLoad) {
        try await given("L1") {
            let caller = try await call()
            let load = try await nextLoad()
            try await answer(load, .success(token))
            try await expect(caller, gets: token)
            return (caller, load)
        }
    }

    /// A load that is running, with the callers that wait for it, and the token that is cached beside it.
    func runningLoad(_ kind: LoadKind) async throws -> (waiters: [Caller], load: ControlledLoad, cached: AccessToken?) {
        if kind == .first {
            let waiters = try await calls(3)
            return (waiters, try await firstLoad(), nil)
        }
        let judge = kind == .ahead ? "C5" : "I6"
        try takeForGranted(judge)
        let token = token("T1", life: 3600)
        try await cache(token)
        return try await given(judge) {
            if kind == .forced {
                let caller = try await call("caller that wants another token", refresh: true)
                return ([caller], try await expectLoad(for: caller), token)
            }
            try await advance(by: 3400)
            try await expect(call(), gets: token)
            return ([], try await nextLoad(), token)
        }
    }

    /// For which loads callers have to wait: the first (`nil`), and one ahead of a token that has ended since.
    static func awaitedLoads(_ features: ContractFeatures) -> [TokenEnd?] {
        [nil] + (LoadKind.all(features).contains(.ahead) ? TokenEnd.all(features) : [])
    }

    /// The load of this round for which callers have to wait, those who do, and the token that has ended.
    func awaitedLoad() async throws -> (waiters: [Caller], load: ControlledLoad, ended: EndedToken?) {
        guard let end = Self.awaitedLoads(features)[round] else {
            let (waiters, load, _) = try await runningLoad(.first)
            return (waiters, load, nil)
        }
        let (_, load, cached) = try await runningLoad(.ahead)
        guard let cached else { preconditionFailure("a load ahead has a cached token") }
        try await self.end(cached, by: end)
        return ([], load, (cached, end))
    }

    typealias EndedToken = (token: AccessToken, by: TokenEnd)

    /// Leaves it to the clause about the token's end that a caller gets the token after it.
    func expectNobody(of callers: [Caller], gets ended: EndedToken?) async throws {
        guard let ended else { return }
        expect(callers, notToGet: ended)
        await settle()
        if let fault = faultOfAnEndedToken { throw fault }
    }

    /// Makes a token of `runningLoad` or one that lives for an hour useless.
    func end(_ token: AccessToken, by end: TokenEnd) async throws {
        switch end {
        case .expiry: try await advance(by: 3600)
        case .invalidation: try await invalidate(token)
        }
    }
}
