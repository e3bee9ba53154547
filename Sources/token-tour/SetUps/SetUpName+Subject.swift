import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth

extension SetUpName {
    /// Puts the set-up together for this server; what its service reports goes to the recorder.
    func subject(on server: any TourServer, recorder: RoundRecorder) -> Subject {
        isOurs ? ourSubject(on: server, recorder) : naiveSubject(on: server)
    }

    private func naiveSubject(on server: any TourServer) -> Subject {
        let store = server.store
        let loader = server.counting(NaiveTokenLoader(endpoint: server.endpoint, store: store))
        let signIn: @Sendable (Credential) async throws -> Void = { credential in
            try await store.update { _ in .replace(credential) }
        }
        guard self == .naiveActor else {
            let service = NaiveCallbackService(loader: CallbackLoaderView(of: loader))
            return Subject(callbackSide: service, signInLoader: signIn) { service.signIn($0) }
        }
        let service = NaiveActorService(loader: loader)
        return Subject(asyncSide: service, signInLoader: signIn) { await service.signIn($0) }
    }

    private func ourSubject(on server: any TourServer, _ recorder: RoundRecorder) -> Subject {
        let oauthLoader = OAuthLoader(endpoint: server.endpoint, store: server.store)
        let signIn: @Sendable (Credential) async throws -> Void = { try await oauthLoader.signIn($0) }
        let loader = ThrottlingLoader(RetryingLoader(server.counting(oauthLoader)))
        let record: @Sendable (AccessTokenEvent) -> Void = { event in
            event.step.map(recorder.record)
        }
        guard self != .queue else {
            let service = AccessTokenService(loader: CallbackLoaderView(of: loader), onEvent: record)
            return Subject(callbackSide: service, signInLoader: signIn) { service.signIn($0) }
        }
        let service = AsyncAccessTokenService(loader: loader, onEvent: record)
        // In the middle of a migration the actor is the one that loads and keeps the token, and code that still uses
        // callbacks sees it through an adapter.
        return Subject(
            callbackSide: self == .both ? CallbackServiceView(of: service) : nil,
            asyncSide: service,
            signInLoader: signIn
        ) { await service.signIn($0) }
    }
}
