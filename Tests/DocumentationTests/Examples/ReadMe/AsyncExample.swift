import AccessTokenAsync
import Foundation

enum AsyncExample {
    struct TokenLoader: AsyncAccessTokenLoader {
        let endpoint: YourEndpoint

        func load(replacing old: AccessToken?) async throws -> AccessToken {
            let reply = try await endpoint.requestToken()
            return AccessToken(value: reply.value, expiration: reply.expiresAt)
        }
    }

    static func run(endpoint: YourEndpoint, server: FriendsServer) async throws -> FriendsServer.Reply {
        let service = AsyncAccessTokenService(loader: TokenLoader(endpoint: endpoint))

        func friends() async throws -> FriendsServer.Reply {
            let token = try await service.token()
            let reply = try await server.friends(bearer: token.value)
            guard reply.status == 401 else { return reply }
            await service.invalidate(token)  // One load follows, however many callers were rejected.
            return try await server.friends(bearer: service.token().value)
        }

        return try await friends()
    }
}
