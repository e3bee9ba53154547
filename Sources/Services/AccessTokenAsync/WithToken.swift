public import AccessTokenCore

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
    /// the token's age.
    ///
    /// **Concurrency** `send` and `isRejected` run where the caller does.
    ///
    /// **Cancellation** A caller that is cancelled while it waits for a token gets `CancellationError` at once (X1).
    /// While the request runs, its own way to react to cancellation counts.
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
        let token = try await token()
        do {
            let response = try await send(token)
            guard isRejected(response) else { return response }
        } catch AccessTokenError.tokenRejected {
            // Goes on below, as with a response that rejects the token.
        }
        await invalidate(token)
        return try await send(self.token())
    }
}
