import AccessTokenGCD
import Dispatch

nonisolated struct TokenLoader: AccessTokenLoader {
    let endpoint: YourEndpoint

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        endpoint.requestToken { result in
            handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
        }
    }
}

@MainActor
final class FriendsScreen {
    let tokens = AccessTokenService(loader: TokenLoader(endpoint: YourEndpoint()), handlerQueue: .main)
    var show: (Result<AccessToken, any Error>) -> Void = { print($0) }

    func appear() {
        tokens.retrieveToken { result in
            MainActor.assumeIsolated { self.show(result) }  // `handlerQueue: .main` makes this true.
        }
    }
}
