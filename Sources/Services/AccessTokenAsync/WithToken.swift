public import AccessTokenCore
package import AccessTokenFoundation

extension AsyncAccessTokenProviding {
    /// Runs a request with a valid token; if the server rejects the token, runs it once more with the next one.
    ///
    /// ```swift
    /// let reply = try await service.withToken(isRejected: { $0.status == 401 }) { token in
    ///     try await server.friends(bearer: token.value)
    /// }
    /// ```
    ///
    /// A request says "rejected" (RFC 6750, section 3.1) in one of two ways: by a response that `isRejected`
    /// recognises, or by throwing ``AccessTokenError/tokenRejected``. Then the token that was sent is invalidated
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
    /// **Concurrency** `send` and `isRejected` run where the caller does.
    ///
    /// **Cancellation** A caller that is cancelled while it waits for a token gets `CancellationError` at once (X1).
    /// While the request runs, its own way to react to cancellation counts. If the request is rejected all the same,
    /// its token is invalidated.
    ///
    /// **Failure** What ``token()`` throws, and what `send` throws.
    ///
    /// - Parameters:
    ///   - isRejected: recognises a response that rejects the token; by default none does.
    ///   - send: sends the request with the token.
    public nonisolated(nonsending) func withToken<Response>(
        isRejected: (Response) -> Bool = { _ in false },
        send: nonisolated(nonsending) (AccessToken) async throws -> Response
    ) async throws -> Response {
        try await withToken(pausesRepeating: true, isRejected: isRejected, send: send)
    }

    /// - Parameter pausesRepeating: `false` for a caller that knows better which requests are worth a second run.
    package nonisolated(nonsending) func withToken<Response>(
        pausesRepeating: Bool,
        isRejected: (Response) -> Bool,
        send: nonisolated(nonsending) (AccessToken) async throws -> Response
    ) async throws -> Response {
        let service = self as? any RequestRepeating
        var session: Int?
        var token: AccessToken
        repeat {
            session = service?.userEpoch
            token = try await self.token()
            // Of a session that has begun meanwhile, or of the one before?
        } while session != service?.userEpoch
        let rejection = try await attempt(isRejected, send, with: token)
        guard rejection.isRejected, !pausesRepeating || service?.mayRepeat(in: session) ?? true else {
            return try rejection.outcome.get()
        }
        await invalidate(token)
        guard session == service?.userEpoch else { return try rejection.outcome.get() }
        let next: AccessToken
        do { next = try await self.token() } catch {
            guard session == service?.userEpoch else { return try rejection.outcome.get() }
            throw error
        }
        guard session == service?.userEpoch else { return try rejection.outcome.get() }
        let second = try await attempt(isRejected, send, with: next)
        if pausesRepeating { service?.repeated(with: next, isRejected: second.isRejected, in: session) }
        return try second.outcome.get()
    }

    /// One run of a request; throws what says nothing of the token.
    private nonisolated(nonsending) func attempt<Response>(
        _ isRejected: (Response) -> Bool,
        _ send: nonisolated(nonsending) (AccessToken) async throws -> Response,
        with token: AccessToken
    ) async throws -> (outcome: Result<Response, any Error>, isRejected: Bool) {
        do {
            let response = try await send(token)
            return (.success(response), isRejected(response))
        } catch let error as AccessTokenError where error == .tokenRejected {
            return (.failure(error), true)
        }
    }
}

extension AsyncAccessTokenService: RequestRepeating {
    package nonisolated var userEpoch: Int? { snapshot.userEpoch }

    package nonisolated func withRepeatedRequests<Result: Sendable>(
        _ body: (inout RepeatedRequests, _ now: Date) -> Result
    ) -> Result? {
        // Read outside of the lock: an app's clock may do anything.
        let now = clock.now
        return snapshot.withRepeatedRequests { body(&$0, now) }
    }
}
