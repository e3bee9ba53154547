import AccessTokenAsync
import SampleShared

/// Sends the refresh token from the keychain, stores its successor, and forgets it at a sign-out.
struct TokenLoader: AsyncAccessTokenLoader {
    let exchange: AsyncExchange
    let keychain: Keychain

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        guard let sent = keychain.credential else { throw AccessTokenError.signedOut }
        do {
            let new = try await exchange(sent.refreshToken)
            keychain.replace(sent, with: new)
            return AccessToken(value: new.accessToken, expiration: new.expiresAt)
        } catch is AuthorizationServer.InvalidGrant {
            keychain.replace(sent, with: nil)  // The session is over. Only a login helps.
            throw AccessTokenError.signedOut
        }
    }

    func signOut() {
        keychain.credential = nil
    }
}
