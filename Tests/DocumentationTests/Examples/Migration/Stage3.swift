import AccessTokenAdapters

/// Some callers are async; the others see the same actor through the adapter.
enum Stage3 {
    typealias TokenLoader = Stage2.TokenLoader

    struct FriendsClient {
        let tokens: any AsyncAccessTokenProviding
        let server: FriendsServer

        func friends() async throws -> [String] {
            let token = try await tokens.token()
            return try await server.friends(bearer: token.value).friends
        }
    }

    struct App {
        let tokens: any AccessTokenProviding
        let friends: FriendsClient

        init(endpoint: YourEndpoint, server: FriendsServer) {
            let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: TokenLoader(endpoint: endpoint)))
            tokens = CallbackServiceView(of: service)
            friends = FriendsClient(tokens: service, server: server)
        }
    }
}

extension Stage3.FriendsClient {
    @available(*, renamed: "friends()")
    func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
        Task {
            do { handler(.success(try await friends())) } catch { handler(.failure(error)) }
        }
    }
}
