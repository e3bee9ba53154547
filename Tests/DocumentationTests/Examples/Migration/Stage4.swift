import AccessTokenAsync

/// All callers are async, and nothing is left of the callback world.
enum Stage4 {
    typealias FriendsClient = Stage3.FriendsClient

    struct TokenLoader: AsyncAccessTokenLoader {
        let endpoint: YourEndpoint

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let reply = try await endpoint.requestToken()
            return AccessToken(value: reply.value, expiration: reply.expiresAt)
        }
    }

    struct App {
        let tokens: any AsyncAccessTokenProviding
        let friends: FriendsClient

        init(endpoint: YourEndpoint, server: FriendsServer) {
            let service = AsyncAccessTokenService(loader: TokenLoader(endpoint: endpoint))
            tokens = service
            friends = FriendsClient(tokens: service, server: server)
        }
    }
}
