import AccessTokenAdapters
import ContractHarness

/// The situations from which scenarios begin: where the token comes from, and why a load is running.
extension ClauseRun {
    /// Where a cached token came from.
    enum TokenOrigin: String, ClauseSituation {
        case load = "a load has brought the token"
        case signIn = "a sign-in has brought the token"
        /// Only a script can begin with it.
        case initial = "the service is made with the token"

        static func all(_ features: ContractFeatures) -> [TokenOrigin] {
            features.contains(.signIn) ? [.load, .signIn] : [.load]
        }

        static func inScripts(_ features: ContractFeatures) -> [TokenOrigin] {
            all(features) + (features.contains(.initialToken) ? [.initial] : [])
        }
    }

    /// Why a load is running: there was no token, the token comes to its end, or a caller wants another one.
    enum LoadKind: String {
        case first = "the first load"
        case ahead = "the load ahead"
        case forced = "the forced load"

        /// Those that a subject knows; the first load comes first.
        static func all(_ features: ContractFeatures) -> [LoadKind] {
            var kinds: [LoadKind] = [.first]
            if features.isSuperset(of: [.expiry, .refreshAhead]) { kinds.append(.ahead) }
            if features.contains(.forcedRefresh) { kinds.append(.forced) }
            return kinds
        }
    }

    /// How a cached token can be made useless: the next caller needs a load.
    enum TokenEnd: String {
        case expiry = "expires"
        case invalidation = "is rejected"

        /// The clause that judges whether the token is handed out after this.
        var judge: ContractClause { self == .expiry ? ServiceContract.c6 : ServiceContract.i1 }

        static func all(_ features: ContractFeatures) -> [TokenEnd] {
            (features.contains(.expiry) ? [.expiry] : []) + (features.contains(.invalidation) ? [.invalidation] : [])
        }
    }

    /// Whether the loader ends a load whose task is cancelled: real ones often do not.
    enum LoaderKind: String, ClauseSituation {
        case heedsCancellation = "the loader heeds cancellation"
        case ignoresCancellation = "the loader ignores cancellation"

        /// A loader with a callback is not cancelled.
        static func all(_ features: ContractFeatures) -> [LoaderKind] {
            features.contains(.callbackLoader) ? [.heedsCancellation] : [.heedsCancellation, .ignoresCancellation]
        }
    }

    /// A situation with each kind of loader.
    struct WithLoader<Base: ClauseSituation>: ClauseSituation {
        let base: Base
        let loader: LoaderKind

        var name: String { base.name + (loader == .ignoresCancellation ? "; \(loader.name)" : "") }

        static func all(_ bases: [Base], _ features: ContractFeatures) -> [Self] {
            LoaderKind.all(features).flatMap { loader in bases.map { Self(base: $0, loader: loader) } }
        }
    }

    func use(_ loader: LoaderKind) {
        if loader == .ignoresCancellation { fixture.loader.ignoreCancellation() }
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
    func oldToken(from origin: TokenOrigin, secondsLeft: Double) async throws -> AccessToken {
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
        try await given(.l1) {
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
        let judge: ClauseID = kind == .ahead ? .c5 : .i6
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

    /// A load for which callers have to wait.
    enum AwaitedLoad: ClauseSituation {
        case first
        /// A load ahead of a token that has ended since.
        case ahead(TokenEnd)

        var name: String {
            switch self {
            case .first: "the first load is running"
            case .ahead(let end): "the load ahead is running, and the cached token \(end.rawValue)"
            }
        }

        static func all(_ features: ContractFeatures) -> [AwaitedLoad] {
            [.first] + (LoadKind.all(features).contains(.ahead) ? TokenEnd.all(features).map(ahead) : [])
        }
    }

    /// A load for which callers have to wait, those who do, and the token that has ended.
    func load(_ situation: AwaitedLoad) async throws -> (waiters: [Caller], load: ControlledLoad, ended: EndedToken?) {
        guard case .ahead(let end) = situation else {
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
