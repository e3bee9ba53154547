import AccessTokenGCD
import SampleShared

/// Sends the refresh token from the keychain, stores its successor, and forgets it at a sign-out.
struct TokenLoader: AccessTokenLoader {
    let exchange: Exchange
    let keychain: Keychain

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        guard let sent = keychain.credential else { return handler(.failure(AccessTokenError.signedOut)) }
        exchange(sent.refreshToken) { [keychain] result in
            switch result {
            case .success(let new):
                keychain.replace(sent, with: new)
                handler(.success(AccessToken(value: new.accessToken, expiration: new.expiresAt)))
            case .failure(is AuthorizationServer.InvalidGrant):
                keychain.replace(sent, with: nil)  // The session is over. Only a login helps.
                handler(.failure(AccessTokenError.signedOut))
            case .failure(let error):
                handler(.failure(error))
            }
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        keychain.credential = nil
        done()
    }
}
