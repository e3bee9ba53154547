import AccessTokenGCD
import Dispatch

struct TokenLoader: AccessTokenLoader {
    let endpoint: YourEndpoint
    let keychain: YourKeychain

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        guard let sent = keychain.refreshToken else { return handler(.failure(AccessTokenError.signedOut)) }
        endpoint.exchange(sent) { result in
            if let reply = try? result.get() { keychain.replace(sent, with: reply.refreshToken) }
            handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
        }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        keychain.removeRefreshToken()
        done()
    }
}

@MainActor
final class FriendsScreen {
    let tokens: AccessTokenService
    var show: (Result<AccessToken, any Error>) -> Void = { print($0) }

    init(loader: TokenLoader) {
        tokens = AccessTokenService(loader: loader, handlerQueue: .main)
    }

    func appear() {
        tokens.retrieveToken { result in
            MainActor.assumeIsolated { self.show(result) }  // `handlerQueue: .main` makes this true.
        }
    }
}
