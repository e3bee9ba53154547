import Foundation

extension TokenEndpoint {
    /// Tells the server that a token is not needed any more (RFC 7009); with most servers, a refresh token takes the
    /// access tokens with it.
    ///
    /// Does nothing without a ``revocationURL``. A token that the server does not know counts as revoked.
    ///
    /// **Failure** ``OAuthError``. An app that signs out goes on all the same: the user is not to be kept.
    ///
    /// - Parameters:
    ///   - token: a refresh token, or an access token.
    ///   - hint: what kind it is, to help the server look it up (RFC 7009, section 2.1).
    public func revoke(_ token: String, hint: String = "refresh_token") async throws {
        guard let revocationURL else { return }
        let parameters = [FormParameter("token", token, isSecret: true), FormParameter("token_type_hint", hint)]
        let proof = try await authentication.proof(within: deadline, by: clock)
        let call = EndpointCall(revocationURL, parameters: parameters, proof: proof)
        guard allowsInsecureHTTP || call.isSecure else { throw OAuthError.insecureEndpoint }
        let reader = TokenReplyReader(secrets: call.secrets, emptyRefusalIsInvalidGrant: false)
        let exchange = OutstandingExchange<Result<Void, OAuthError>> { _, _ in }
        call.send(idleLimit: deadline) { [clock] result in
            exchange.settle(result.flatMap { reply in reader.readRevocation(reply, at: clock.now) })
        }
        guard let reply = await exchange.reply(within: deadline, by: clock) else { throw OAuthError.timedOut }
        try reply.get()
    }

    /// Tells the server that a token is not needed any more, for callback code.
    ///
    /// - Parameters:
    ///   - token: a refresh token, or an access token.
    ///   - hint: what kind it is.
    ///   - handler: called once, on any thread.
    @available(*, renamed: "revoke(_:hint:)")
    public func revoke(
        _ token: String,
        hint: String = "refresh_token",
        then handler: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        Task {
            do { handler(.success(try await revoke(token, hint: hint))) } catch { handler(.failure(error)) }
        }
    }
}
