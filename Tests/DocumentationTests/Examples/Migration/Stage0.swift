/// Callers use the app's own service, and its token type.
enum Stage0 {
    struct FriendsClient {
        let session: LegacySession
        let server: FriendsServer

        func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
            session.retrieveToken { [server] result in
                switch result {
                case .success(let token): server.friends(bearer: token.value) { handler($0.map(\.friends)) }
                case .failure(let error): handler(.failure(error))
                }
            }
        }
    }

    struct App {
        let session: LegacySession
        let friends: FriendsClient

        init(endpoint: YourEndpoint, server: FriendsServer) {
            session = LegacySession(requestToken: endpoint.requestToken)
            friends = FriendsClient(session: session, server: server)
        }
    }
}
