public import AccessTokenCore
import Dispatch

extension AccessTokenProviding {
    /// Runs a request with a valid token; if the server rejects the token, runs it once more with the next one.
    ///
    /// ```swift
    /// service.withToken(isRejected: { $0.status == 401 }) { token, reply in
    ///     server.friends(bearer: token.value, then: reply)
    /// } then: { result in … }
    /// ```
    ///
    /// A request says "rejected" (RFC 6750, section 3.1) in one of two ways: by a response that `isRejected` recognises, or
    /// by the error ``AccessTokenError/tokenRejected``. Then the token that was sent is invalidated (clause I1), and one
    /// load follows, however many callers were rejected (I3). Everything else is handed on: other responses and errors, and
    /// the outcome of the second run, even if that is a rejection too, since it is not about the token's age.
    ///
    /// **Concurrency** `request` and `handler` are called on the queue on which the service calls handlers. A service of your
    /// own has no such queue that is known here: then `handler` is called wherever the request calls back.
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` (X1). A request
    /// that is under way ends in its own time, and its outcome is ignored.
    ///
    /// **Failure** The service's errors and the request's; ``AccessTokenError/requestAbandoned`` if the request releases its
    /// callback without calling it. Only the first call of the callback counts.
    ///
    /// - Parameters:
    ///   - isRejected: recognises a response that rejects the token; by default none does.
    ///   - request: sends the request with the token, and calls back with the outcome.
    ///   - handler: called once, with the outcome.
    @discardableResult
    public func withToken<Response: Sendable>(
        isRejected: @escaping @Sendable (Response) -> Bool = { _ in false },
        _ request:
            @escaping @Sendable (AccessToken, @escaping @Sendable (Result<Response, any Error>) -> Void) -> Void,
        then handler: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) -> AccessTokenRetrieval {
        let run = TokenRequest(of: self, isRejected, request, then: handler)
        run.retrieveToken(isSecond: false)
        return AccessTokenRetrieval { [weak run] in run?.cancel() }
    }
}

/// A provider that says where it calls handlers.
package protocol HandlerQueueProviding {
    var handlerQueue: any SerialQueue { get }
}

/// A request with a token, from its first retrieval to its outcome; what it waits for holds it.
private final class TokenRequest<Response: Sendable>: Sendable {
    typealias Outcome = Result<Response, any Error>

    private struct State: Sendable {
        /// `nil` when the handler was called.
        var handler: (@Sendable (Outcome) -> Void)?
        var retrievals: [AccessTokenRetrieval] = []
    }

    private let provider: any AccessTokenProviding
    private let isRejected: @Sendable (Response) -> Bool
    private let request: @Sendable (AccessToken, @escaping @Sendable (Outcome) -> Void) -> Void
    private let state: Locked<State>

    init(
        of provider: any AccessTokenProviding,
        _ isRejected: @escaping @Sendable (Response) -> Bool,
        _ request: @escaping @Sendable (AccessToken, @escaping @Sendable (Outcome) -> Void) -> Void,
        then handler: @escaping @Sendable (Outcome) -> Void
    ) {
        self.provider = provider
        self.isRejected = isRejected
        self.request = request
        state = Locked(State(handler: handler))
    }

    private var isOver: Bool { state.withLock { $0.handler == nil } }

    func retrieveToken(isSecond: Bool) {
        // A service of others may call its handler twice, or never.
        let retrieved = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { [self] result in
            switch result {
            case .success(let token): send(token, isSecond: isSecond)
            case .failure(let error): finish(.failure(error))
            }
        }
        let retrieval = provider.retrieveToken { retrieved($0) }
        let isOver = state.withLock { state in
            if state.handler != nil { state.retrievals.append(retrieval) }
            return state.handler == nil
        }
        // It may have been cancelled before the retrieval was known.
        if isOver { retrieval.cancel() }
    }

    private func send(_ token: AccessToken, isSecond: Bool) {
        guard !isOver else { return }
        let reply = OneShot<Outcome>(abandoned: .failure(AccessTokenError.requestAbandoned)) { [self] outcome in
            guard !isSecond, !isOver, isRejection(outcome) else { return finish(outcome) }
            provider.invalidate(token)
            retrieveToken(isSecond: true)
        }
        request(token) { reply($0) }
    }

    private func isRejection(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .success(let response): isRejected(response)
        case .failure(let error): AccessTokenError.tokenRejected ~= error
        }
    }

    func cancel() {
        let retrievals = state.withLock { $0.retrievals }
        finish(.failure(cancellation))
        for retrieval in retrievals { retrieval.cancel() }
    }

    private func finish(_ outcome: Outcome) {
        let handler = state.withLock { state in
            defer { state = State() }
            return state.handler
        }
        guard let handler else { return }
        guard let queue = (provider as? any HandlerQueueProviding)?.handlerQueue else { return handler(outcome) }
        queue.enqueue { handler(outcome) }
    }
}
