import AccessTokenAsync

nonisolated struct AsyncTokenLoader: AsyncAccessTokenLoader {
    let endpoint: YourEndpoint

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let reply = try await endpoint.requestToken()
        return AccessToken(value: reply.value, expiration: reply.expiresAt)
    }
}

@MainActor
final class FriendsModel {
    let tokens = AsyncAccessTokenService(loader: AsyncTokenLoader(endpoint: YourEndpoint()))
    var server = FriendsServer()

    func friends() async throws -> [String] {
        try await tokens.withToken(isRejected: { $0.status == 401 }) { token in
            try await server.friends(bearer: token.value)  // Sent once more, with the next token, after a 401.
        }.friends
    }
}
