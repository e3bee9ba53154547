/// Exchanges a refresh token for a new credential: the app's request to its token endpoint.
package typealias Exchange =
    @Sendable (_ refreshToken: String, _ handler: @escaping @Sendable (Result<Credential, any Error>) -> Void) -> Void

/// ``Exchange`` for async code.
package typealias AsyncExchange = @Sendable (_ refreshToken: String) async throws -> Credential
