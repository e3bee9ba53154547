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

    /// A line for the help text.
    var summary: String {
        switch self {
        case .naiveCallback: "a queue protects the memory, nothing protects the load; callbacks"
        case .naiveActor: "an actor that awaits the load, and no shared load; tasks"
        case .queue: "AccessTokenService; callbacks"
        case .actor: "AsyncAccessTokenService; tasks"
        case .both: "one AsyncAccessTokenService; half callbacks through an adapter, half tasks"
        }
    }

    /// Builds the set-up for this server, with a store of its own.
    func subject(on server: TourServer) -> Subject {
        let store = MemoryCredentialStore()
        guard isOurs else { return naiveSubject(NaiveTokenLoader(endpoint: server.endpoint, store: store)) }
        let oauthLoader = OAuthLoader(endpoint: server.endpoint, store: store)
        let loader = ThrottlingLoader(RetryingLoader(oauthLoader))
        guard self != .queue else {
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader))
            return Subject(callbackSide: service) { token, credential in
                try await oauthLoader.signIn(credential)
                service.signIn(token)
            }
        }
        let service = AsyncAccessTokenService(loader: loader)
        // In the middle of a migration the actor loads and keeps the token, and callback code uses an adapter of it.
        return Subject(callbackSide: self == .both ? CallbackServiceAdapter(of: service) : nil, asyncSide: service) {
            try await oauthLoader.signIn($1)
            await service.signIn($0)
        }
    }

    private func naiveSubject(_ loader: NaiveTokenLoader) -> Subject {
        guard self == .naiveActor else {
            let service = NaiveCallbackService(loader: CallbackLoaderAdapter(of: loader))
            return Subject(callbackSide: service) { token, credential in
                try await loader.store.update { _ in .replace(credential) }
                service.signIn(token)
            }
        }
        let service = NaiveActorService(loader: loader)
        return Subject(asyncSide: service) { token, credential in
            try await loader.store.update { _ in .replace(credential) }
            await service.signIn(token)
        }
    }
}

/// A set-up that is ready to be called.
struct Subject: Sendable {
    /// The service for callers with callbacks; `nil` if the set-up has none.
    var callbackSide: (any AccessTokenProviding)?
    /// The service for callers that are tasks; `nil` if the set-up has none.
    var asyncSide: (any AsyncAccessTokenProviding)?
    /// Begins a session with this credential.
    let signIn: @Sendable (AccessToken, Credential) async throws -> Void

    /// So many callers, by turns callbacks and tasks if the set-up has both.
    func callers(_ count: Int, _ resource: ResourceClient) -> [any Caller] {
        let kinds: [any Caller] =
            (callbackSide.map { [CallbackCaller(service: $0, resource: resource)] } ?? [])
            + (asyncSide.map { [AsyncCaller(service: $0, resource: resource)] } ?? [])
        return (0..<count).map { kinds[$0 % kinds.count] }
    }
}
