import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth

/// The set-ups of the tour, in the order in which they run.
enum SetUp: String, CaseIterable, TourSetUp {
    case naiveCallback = "naive-callback"
    case naiveActor = "naive-actor"
    case queue
    case actor
    case both

    var isOurs: Bool { self != .naiveCallback && self != .naiveActor }

    var summary: String {
        switch self {
        case .naiveCallback: "a queue protects the memory, nothing protects the load; callbacks"
        case .naiveActor: "an actor that awaits the load, and no shared load; tasks"
        case .queue: "AccessTokenService; callbacks"
        case .actor: "AsyncAccessTokenService; tasks"
        case .both: "one AsyncAccessTokenService; half callbacks through an adapter, half tasks"
        }
    }

    func run(_ options: Options, onRound: (Int) -> Void) async throws -> SetUpResult {
        let server = try TourServer(latency: options.latency, limit: options.limit)
        defer { server.stop() }
        let store = MemoryCredentialStore()
        let (kinds, signIn) = callers(of: server, store)
        let callers = (0..<options.callers).map { kinds[$0 % kinds.count] }
        return try await SetUpResult(self, options.rounds, on: server, store, signIn, onRound: onRound) {
            await RoundOutcome(of: callers)
        }
    }

    /// Builds the set-up for this server.
    ///
    /// - Returns: A caller of each kind that the set-up has, and what gives the service the first token of a session.
    private func callers(
        of server: TourServer,
        _ store: MemoryCredentialStore
    ) -> (kinds: [Caller], signIn: @Sendable (AccessToken) async -> Void) {
        let resource = ResourceClient(resource: server.resource)
        let naiveLoader = NaiveTokenLoader(endpoint: server.endpoint, store: store)
        let loader = ThrottlingLoader(RetryingLoader(OAuthLoader(endpoint: server.endpoint, store: store)))
        switch self {
        case .naiveCallback:
            let service = NaiveCallbackService(loader: CallbackLoaderAdapter(of: naiveLoader))
            return ([resource.callbackCaller(of: service)], { service.signIn($0) })
        case .naiveActor:
            let service = NaiveActorService(loader: naiveLoader)
            return ([resource.asyncCaller(of: service)], { await service.signIn($0) })
        case .queue:
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader))
            return ([resource.callbackCaller(of: service)], { service.signIn($0) })
        case .actor, .both:
            let service = AsyncAccessTokenService(loader: loader)
            var kinds: [Caller] = [resource.asyncCaller(of: service)]
            // In the middle of a migration the actor loads and keeps the token, and callback code uses an adapter of
            // it.
            let adapter = CallbackServiceAdapter(of: service)
            if self == .both { kinds.append(resource.callbackCaller(of: adapter)) }
            return (kinds, { await service.signIn($0) })
        }
    }
}
