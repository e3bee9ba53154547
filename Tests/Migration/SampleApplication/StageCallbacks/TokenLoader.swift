import AccessTokenGCD
import SampleShared

/// Sends the refresh token from the keychain, stores its successor, and forgets it at a sign-out.
struct TokenLoader: AccessTokenLoader {
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

    func signOut(then done: @escaping @Sendable () -> Void) {
        keychain.credential = nil
        done()
    }
}
