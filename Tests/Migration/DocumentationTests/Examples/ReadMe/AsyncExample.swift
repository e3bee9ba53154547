import AccessTokenAsync

@MainActor
final class FriendsModel {
    let tokens: AsyncAccessTokenService
    var server = FriendsServer()

    init(loader: any AsyncAccessTokenLoader) {
        tokens = AsyncAccessTokenService(loader: loader)
    }

    func friends() async throws -> [String] {
        try await tokens.withToken(isRejected: { $0.status == 401 }) { token in
            // After a 401 the request is sent once more, with the next token.
            try await server.friends(bearer: token.value)
        }.friends
    }
}
