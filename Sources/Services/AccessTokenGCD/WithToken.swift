public import AccessTokenCore
import AccessTokenSynchronization

extension AccessTokenProviding {
    /// Runs a request with a valid token; if the server rejects the token, runs it once more with the next one.
    ///
    /// A request says "rejected" (RFC 6750, section 3.1) in one of two ways: by a response that `isRejected`
    /// recognises, or by the error ``AccessTokenError/tokenRejected``. Then the token that was sent is invalidated
    /// (clause I1), and one load follows, however many callers were rejected (I3). Everything else is handed on: other
    /// responses and errors, and the outcome of the second run, even if that is a rejection too, since it is not about
    /// the token's age.
    ///
    /// **Concurrency** `send` and `handler` are called on the queue on which the service calls handlers. A service of
    /// your own has no such queue that is known here: then `handler` is called wherever the request calls back.
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` (X1). A request
    /// that is under way ends in its own time, and its outcome is ignored.
    ///
    /// **Failure** The service's errors and the request's; ``AccessTokenError/requestAbandoned`` if the request
    /// releases its callback without calling it. Only the first call of the callback counts.
    ///
    /// - Parameters:
    ///   - isRejected: recognises a response that rejects the token; by default none does.
    ///   - send: sends the request with the token, and calls back with the outcome.
    ///   - handler: called once, with the outcome.
    @discardableResult
    public func withToken<Response: Sendable>(
        isRejected: @escaping @Sendable (Response) -> Bool = { _ in false },
        send:
            @escaping @Sendable (AccessToken, @escaping @Sendable (Result<Response, any Error>) -> Void) -> Void,
        then handler: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) -> AccessTokenRetrieval {
        typealias Outcome = Result<Response, any Error>
        let callback = (self as? any HandlerQueueProviding)?.handlerQueue.callback(handler) ?? handler
        let answer = OneShot<Outcome>(abandoned: .failure(AccessTokenError.requestAbandoned), callback)
        let cancelled = Latch()

        @Sendable func retrieve(isSecond: Bool) {
            // A service of your own may call its handler twice, or never.
            let retrieved = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
                switch result {
                case .success(let token): request(with: token, isSecond: isSecond)
                case .failure(let error): answer(.failure(error))
                }
            }
            let retrieval = self.retrieveToken { retrieved($0) }
            cancelled.whenFired { retrieval.cancel() }
        }

        @Sendable func request(with token: AccessToken, isSecond: Bool) {
            guard answer.isPending else { return }
            let reply = OneShot<Outcome>(abandoned: .failure(AccessTokenError.requestAbandoned)) { outcome in
                guard !isSecond, answer.isPending, isRejection(outcome) else { return _ = answer(outcome) }
                self.invalidate(token)
                retrieve(isSecond: true)
            }
            send(token) { reply($0) }
        }

        @Sendable func isRejection(_ outcome: Outcome) -> Bool {
            switch outcome {
            case .success(let response): isRejected(response)
            case .failure(let error): AccessTokenError.tokenRejected ~= error
            }
        }

        retrieve(isSecond: false)
        return AccessTokenRetrieval { [weak answer] in
            answer?(.failure(cancellationError))
            cancelled.fire()
        }
    }
}
