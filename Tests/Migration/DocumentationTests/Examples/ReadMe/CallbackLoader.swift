import AccessTokenGCD

struct TokenLoader: AccessTokenLoader {
    let endpoint: YourEndpoint
    let keychain: YourKeychain

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        guard let sent = keychain.refreshToken else { return handler(.failure(AccessTokenError.signedOut)) }
        endpoint.exchange(sent) { result in
            switch result {
            case .success(let reply):
                // Only where the old one still is. Without a new one, the old one stays good.
                keychain.replace(sent, with: reply.refreshToken ?? sent)
                handler(.success(AccessToken(value: reply.value, expiration: reply.expiresAt)))
            case .failure(YourEndpoint.Refusal.invalidGrant):
                keychain.replace(sent, with: nil)  // The session is over. Only a login helps.
                handler(.failure(AccessTokenError.signedOut))
            case .failure(let error):
                handler(.failure(error))
            }
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        keychain.removeTokens()
        done()
    }
}
