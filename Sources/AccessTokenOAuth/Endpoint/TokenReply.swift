import AccessTokenCore
import Foundation

/// What an exchange came to.
struct TokenReply: Sendable {
    let result: Result<TokenResponse, OAuthError>

    /// A refresh token that came without an access token that can be used: the one that was sent is spent, so that it
    /// must be saved all the same.
    var rescuedRefreshToken: String?

    /// Every refresh token that came.
    var refreshToken: String? { (try? result.get())?.refreshToken ?? rescuedRefreshToken }

    var error: OAuthError? {
        if case .failure(let error) = result { error } else { nil }
    }

    init(_ result: Result<TokenResponse, OAuthError>, rescuing refreshToken: String? = nil) {
        self.result = result
        rescuedRefreshToken = refreshToken
    }
}
