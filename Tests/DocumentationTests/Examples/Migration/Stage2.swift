import AccessTokenAdapters

/// Callers are as they were; behind the protocol is the actor, which owns the cache from now on.
enum Stage2 {
    typealias FriendsClient = Stage1.FriendsClient

    struct TokenLoader: AccessTokenLoader {
        let endpoint: YourEndpoint

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            endpoint.requestToken { result in
                handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
            }
        }
    }

    struct App {
        let tokens: any AccessTokenProviding
        let friends: FriendsClient

        init(endpoint: YourEndpoint, server: FriendsServer) {
            let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: TokenLoader(endpoint: endpoint)))
            tokens = CallbackServiceView(of: service)
            friends = FriendsClient(tokens: tokens, server: server)
        }
    }
}
