public import AccessTokenCore

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
    /// **Concurrency** `request` is called on the queue on which the service calls handlers. `handler` is called there if
    /// there is no token, else wherever the request calls back.
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` calls `handler` at once with `CancellationError` (X1). A request
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
        let outcome = OneShot(abandoned: .failure(AccessTokenError.requestAbandoned), handler)
        let first = LateBound<AccessTokenRetrieval> { $0.cancel() }
        let second = LateBound<AccessTokenRetrieval> { $0.cancel() }

        // Each run replies once, and holds the outcome until then and no longer: so an abandoned callback is noticed.
        @Sendable func run(
            then replied: @escaping @Sendable (AccessToken, Result<Response, any Error>) -> Void
        ) -> AccessTokenRetrieval {
            let retrieved = OneShot<Result<AccessToken, any Error>>(
                abandoned: .failure(AccessTokenError.loadAbandoned)
            ) { result in
                guard outcome.isPending else { return }
                switch result {
                case .success(let token):
                    let reply = OneShot(abandoned: .failure(AccessTokenError.requestAbandoned)) { replied(token, $0) }
                    request(token) { reply($0) }
                case .failure(let error): outcome(.failure(error))
                }
            }
            return retrieveToken { retrieved($0) }
        }

        first.bind(
            run { token, result in
                guard outcome.isPending, isRejection(result, isRejected) else { return _ = outcome(result) }
                self.invalidate(token)
                second.bind(run { _, result in outcome(result) })
            }
        )
        return AccessTokenRetrieval { [weak outcome] in
            outcome?(.failure(CancellationError()))
            first.cancel()
            second.cancel()
        }
    }
}

private func isRejection<Response>(
    _ result: Result<Response, any Error>,
    _ isRejected: (Response) -> Bool
) -> Bool {
    switch result {
    case .success(let response): isRejected(response)
    case .failure(let error): AccessTokenError.tokenRejected ~= error
    }
}
