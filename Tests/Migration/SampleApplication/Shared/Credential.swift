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
