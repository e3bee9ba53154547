public import AccessTokenCore
package import AccessTokenFoundation
import AccessTokenSynchronization

extension AccessTokenProviding {
    /// Runs a request with a valid token; if the server rejects the token, runs it once more with the next one.
    ///
    /// A request says "rejected" (RFC 6750, section 3.1) in one of two ways: by a response that `isRejected`
    /// recognises, or by the error ``AccessTokenError/tokenRejected``. Then the token that was sent is invalidated
    /// (clause I1), and one load follows, however many callers were rejected (I3). Everything else is handed on: other
    /// responses and errors, and the outcome of the second run, even if that is a rejection too, since it is not about
    /// the token's age. If `send` calls `withToken` of another service, an ``AccessTokenError/tokenRejected`` of that
    /// call rejects this token as well: make another error of it.
    ///
    /// A rejection is handed on, and there is no second run, in two cases:
    /// - The session has ended, or another one has begun, or a look has found nobody or another user signed in: the
    ///   request of one user is not sent with another's token.
    /// - Two tokens in a row were rejected although each was loaded for a second run, the second of them in the last 60
    ///   seconds. A server that refuses every token would cost a load for each request.
    ///
    /// Both are known of the services of this package, also behind adapters. Behind a service of your own they are not,
    /// and the request is run once more.
    ///
    /// **Concurrency** `send` and `handler` are called on the queue on which the service calls handlers. A service of
    /// your own has no such queue that is known here: then `handler` is called wherever the request calls back.
    /// `isRejected` is called there in any case.
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers at once with `CancellationError` (X1). A request
    /// that is under way ends in its own time, and its outcome is ignored, even a rejection: the token stays.
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
        withToken(pausesRepeating: true, isRejected: isRejected, send: send, then: handler)
    }

    /// - Parameter pausesRepeating: `false` for a caller that knows better which requests are worth a second run.
    @discardableResult
    package func withToken<Response: Sendable>(
        pausesRepeating: Bool,
        isRejected: @escaping @Sendable (Response) -> Bool,
        send:
            @escaping @Sendable (AccessToken, @escaping @Sendable (Result<Response, any Error>) -> Void) -> Void,
        then handler: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) -> AccessTokenRetrieval {
        typealias Outcome = Result<Response, any Error>
        let callback = (self as? any HandlerQueueProviding)?.handlerQueue.callback(handler) ?? handler
        let answer = OneShot<Outcome>(abandoned: .failure(AccessTokenError.requestAbandoned), callback)
        let cancelled = Latch()
        let service = self as? any RequestRepeating

        @Sendable func retrieve(then use: @escaping @Sendable (LoadResult) -> Void) {
            // A service of your own may call its handler twice, or never.
            let retrieved = OneShot<LoadResult>(abandoned: .failure(AccessTokenError.loadAbandoned)) { result in
                // A caller that has left wants no request, and no other token.
                if answer.isPending { use(result) }
            }
            let retrieval = self.retrieveToken { retrieved($0) }
            cancelled.whenFired { retrieval.cancel() }
        }

        @Sendable func run(with token: AccessToken, then use: @escaping @Sendable (Outcome) -> Void) {
            let reply = OneShot<Outcome>(abandoned: .failure(AccessTokenError.requestAbandoned), use)
            send(token) { reply($0) }
        }

        @Sendable func isRejection(_ outcome: Outcome) -> Bool {
            switch outcome {
            case .success(let response): isRejected(response)
            case .failure(let error): AccessTokenError.tokenRejected ~= error
            }
        }

        @Sendable func begin() {
            let session = service?.userEpoch
            retrieve { result in
                switch result {
                case .failure(let error): answer(.failure(error))
                // Of a session that has begun meanwhile, or of the one before?
                case .success where session != service?.userEpoch: begin()
                case .success(let token):
                    run(with: token) { outcome in
                        let mayRepeat = answer.isPending && isRejection(outcome)
                        guard mayRepeat, !pausesRepeating || service?.mayRepeat(in: session) ?? true else {
                            return _ = answer(outcome)
                        }
                        self.invalidate(token)
                        runAgain(in: session, after: outcome)
                    }
                }
            }
        }

        @Sendable func runAgain(in session: Int?, after rejection: Outcome) {
            guard session == service?.userEpoch else { return _ = answer(rejection) }
            retrieve { result in
                guard session == service?.userEpoch else { return _ = answer(rejection) }
                switch result {
                case .failure(let error): answer(.failure(error))
                case .success(let token):
                    run(with: token) { outcome in
                        let isRejected = isRejection(outcome)
                        // Any other failure says nothing of the token.
                        if pausesRepeating, isRejected || (try? outcome.get()) != nil {
                            service?.repeated(with: token, isRejected: isRejected, in: session)
                        }
                        answer(outcome)
                    }
                }
            }
        }

        begin()
        return AccessTokenRetrieval { [weak answer] in
            answer?(.failure(cancellationError))
            cancelled.fire()
        }
    }
}

extension AccessTokenService: RequestRepeating {
    package var userEpoch: Int? { snapshot.userEpoch }

    package func withRepeatedRequests<Result: Sendable>(
        _ body: (inout RepeatedRequests, _ now: Date) -> Result
    ) -> Result? {
        // Read outside of the lock: an app's clock may do anything.
        let now = clock.now
        return snapshot.withRepeatedRequests { body(&$0, now) }
    }
}
