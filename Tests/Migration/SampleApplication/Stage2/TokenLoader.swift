import AccessTokenGCD
import SampleShared

/// Sends the refresh token from the keychain, and stores its successor.
nonisolated struct TokenLoader: AccessTokenLoader {
    let exchange: Exchange
    let keychain: Keychain

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        guard let sent = keychain.credential else { return handler(.failure(AccessTokenError.signedOut)) }
        exchange(sent.refreshToken) { [keychain] result in
            handler(
                result.map { new in
                    keychain.replace(sent, with: new)
                    return AccessToken(value: new.accessToken, expiration: new.expiresAt)
                }
            )
        }
    }
}
