import AccessTokenAdapters
import AccessTokenAsync
import AccessTokenGCD

extension SetUpName {
    /// Puts the set-up together around this loader; what its service reports goes to the recorder.
    func subject(loader: TokenExchange, recorder: RoundRecorder) -> Subject {
        let record: @Sendable (AccessTokenEvent) -> Void = { event in
            event.step.map(recorder.record)
        }
        switch self {
        case .naiveCallback:
            let service = NaiveCallbackService(loader: loader)
            return Subject(callbackSide: service) { service.signIn($0) }
        case .naiveActor:
            let service = NaiveActorService(loader: loader)
            return Subject(asyncSide: service) { await service.signIn($0) }
        case .queue:
            let service = AccessTokenService(loader: loader, onEvent: record)
            return Subject(callbackSide: service) { service.signIn($0) }
        case .actor:
            let service = AsyncAccessTokenService(loader: loader, onEvent: record)
            return Subject(asyncSide: service) { await service.signIn($0) }
        case .both:
            // The middle of a migration: the actor is the one that loads and keeps the token, and code
            // that still uses callbacks sees it through an adapter.
            let service = AsyncAccessTokenService(loader: loader, onEvent: record)
            let view = CallbackServiceView(of: service)
            return Subject(callbackSide: view, asyncSide: service) { await service.signIn($0) }
        }
    }
}
