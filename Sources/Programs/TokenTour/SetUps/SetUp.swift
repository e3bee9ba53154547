import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth
import ConsoleSupport

/// The set-ups of the tour, in the order in which they run.
enum SetUp: String, CaseIterable, TourSetUp {
    case naiveCallback = "naive-callback"
    case naiveActor = "naive-actor"
    case queue
    case actor
    case both

    /// Whether it is a service of this package, which must not lose a session.
    var isOurs: Bool {
        switch self {
        case .naiveCallback, .naiveActor: false
        case .queue, .actor, .both: true
        }
    }

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

    /// Builds the set-up for this server.
    ///
    /// The services' events and the store's reads and writes go to the recorder.
    func subject(on server: TourServer, recorder: RoundRecorder) -> Subject {
        let store = RecordingStore(
            base: MemoryCredentialStore(),
            isTransactional: isOurs,
            recorder: recorder,
            name: { server.name(of: $0) }
        )
        return isOurs ? ourSubject(server.endpoint, store, recorder) : naiveSubject(server.endpoint, store)
    }

    private func naiveSubject(_ endpoint: TokenEndpoint, _ store: RecordingStore) -> Subject {
        let loader = NaiveTokenLoader(endpoint: endpoint, store: store)
        let signIn: @Sendable (Credential) async throws -> Void = { credential in
            try await store.update { _ in .replace(credential) }
        }
        guard self == .naiveActor else {
            let service = NaiveCallbackService(loader: CallbackLoaderAdapter(of: loader))
            return Subject(callbackSide: service, signInLoader: signIn) { service.signIn($0) }
        }
        let service = NaiveActorService(loader: loader)
        return Subject(asyncSide: service, signInLoader: signIn) { await service.signIn($0) }
    }

    private func ourSubject(_ endpoint: TokenEndpoint, _ store: RecordingStore, _ recorder: RoundRecorder) -> Subject {
        let oauthLoader = OAuthLoader(endpoint: endpoint, store: store)
        let signIn: @Sendable (Credential) async throws -> Void = { try await oauthLoader.signIn($0) }
        let loader = ThrottlingLoader(RetryingLoader(oauthLoader))
        let record: @Sendable (AccessTokenEvent) -> Void = { event in
            event.step.map(recorder.record)
        }
        guard self != .queue else {
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), onEvent: record)
            return Subject(callbackSide: service, signInLoader: signIn) { service.signIn($0) }
        }
        let service = AsyncAccessTokenService(loader: loader, onEvent: record)
        // In the middle of a migration the actor loads and keeps the token, and callback code uses an adapter of it.
        return Subject(
            callbackSide: self == .both ? CallbackServiceAdapter(of: service) : nil,
            asyncSide: service,
            signInLoader: signIn
        ) { await service.signIn($0) }
    }
}

/// Something that the tour tries, with the name that the table gives it.
protocol TourSetUp: Sendable {
    var rawValue: String { get }
    /// Whether it is a service of this package, which must not lose a session.
    var isOurs: Bool { get }
}

/// A set-up that is ready to be called.
struct Subject: Sendable {
    /// The service for callers with callbacks; `nil` if the set-up has none.
    var callbackSide: (any AccessTokenProviding)?
    /// The service for callers that are tasks; `nil` if the set-up has none.
    var asyncSide: (any AsyncAccessTokenProviding)?
    let signInLoader: @Sendable (Credential) async throws -> Void
    let signInService: @Sendable (AccessToken) async -> Void

    /// Begins a session with this credential.
    func signIn(_ token: AccessToken, refreshToken: String) async throws {
        try await signInLoader(Credential(accessToken: token, refreshToken: refreshToken))
        await signInService(token)
    }

    /// So many callers in all, half of them callbacks and half tasks if the set-up has both.
    func crowd(of count: Int, resource: ResourceClient, log: (Lane) -> CallerLog) -> Crowd {
        let callbackCount = callbackSide == nil ? 0 : asyncSide == nil ? count : (count + 1) / 2
        return Crowd(
            callbackCallers: callbackSide.map { service in
                let caller = CallbackCaller(service: service, resource: resource, log: log(.callbackCallers))
                return Array(repeating: caller, count: callbackCount)
            } ?? [],
            asyncCallers: asyncSide.map { service in
                let caller = AsyncCaller(service: service, resource: resource, log: log(.asyncCallers))
                return Array(repeating: caller, count: count - callbackCount)
            } ?? []
        )
    }
}

extension AccessTokenEvent {
    /// What the diagram shows of a service's events.
    ///
    /// Callers, store and server record the rest.
    fileprivate var step: SequenceDiagram.Content? {
        switch kind {
        case .loadStarted: .note(.service, "one leads the load")
        case .joined: .note(.service, "joins the load")
        case .invalidated: .note(.service, "drops its token")
        case .ignoredInvalidation: .note(.service, "ignores old 401")
        case .loadFailed, .loadTimedOut: .note(.service, "load failed")
        default: nil
        }
    }
}
