import AccessTokenAsync
import SampleShared

/// Sends the refresh token from the keychain, and stores its successor.
struct TokenLoader: AsyncAccessTokenLoader {
    let authorization: AuthorizationServer
    let keychain: Keychain

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let sent = keychain.credential else { throw AccessTokenError.signedOut }
        let new = try await authorization.exchange(sent.refreshToken)
        keychain.replace(sent, with: new)
        return AccessToken(value: new.accessToken, expiration: new.expiresAt)
    }
}
