package import Foundation

/// What the app keeps of a session.
package struct Credential: Equatable, Sendable {
    package let accessToken: String
    package let expiresAt: Date
    package let refreshToken: String

    package init(accessToken: String, expiresAt: Date, refreshToken: String) {
        self.accessToken = accessToken
        self.expiresAt = expiresAt
        self.refreshToken = refreshToken
    }
}

/// Exchanges a refresh token for a new credential: the app's request to its token endpoint.
package typealias Exchange =
    @Sendable (_ refreshToken: String, _ handler: @escaping @Sendable (Result<Credential, any Error>) -> Void) -> Void

/// ``Exchange`` for async code.
package typealias AsyncExchange = @Sendable (_ refreshToken: String) async throws -> Credential
