import AccessTokenAsync
import SampleShared

/// Sends the refresh token from the keychain, and stores its successor.
nonisolated struct TokenLoader: AsyncAccessTokenLoader {
    let exchange: AsyncExchange
    let keychain: Keychain

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let sent = keychain.credential else { throw AccessTokenError.signedOut }
        let new = try await exchange(sent.refreshToken)
        keychain.replace(sent, with: new)
        return AccessToken(value: new.accessToken, expiration: new.expiresAt)
    }
}
