import Foundation

extension TokenEndpoint {
    /// How this server's replies are read.
    var ways: TokenReplyReader.Ways {
        TokenReplyReader.Ways(
            tokenTypes: Set(tokenTypes.map { $0.lowercased() }),
            reply: replyMapping,
            failure: failureMapping,
            deviceFailure: deviceFailureMapping,
            server: server
        )
    }

    /// What this endpoint makes of a reply, without asking the server: to try a mapping, or a ``KnownServer``.
    ///
    /// ```swift
    /// let reply = TokenEndpointReply(status: 200, body: Data(#"{"errcode":42002}"#.utf8))
    /// #expect(throws: OAuthError.self) { try endpoint.response(from: reply) }
    /// ```
    ///
    /// - Parameters:
    ///   - reply: the server's reply.
    ///   - grant: what it answers; a refresh token if nothing is said.
    /// - Throws: ``OAuthError``, as ``exchange(_:)`` does.
    public func response(
        from reply: TokenEndpointReply,
        to grant: TokenGrant = .refreshToken("")
    ) throws -> TokenResponse {
        let secrets = grant.parameters.filter(\.isSecret).map(\.value)
        return try TokenReplyReader(secrets: secrets, grant: grant.kind, ways: ways).read(reply).result.get()
    }
}
