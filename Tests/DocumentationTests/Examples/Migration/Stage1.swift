import AccessTokenGCD

/// Callers use the callback protocol; behind it is still the app's own service.
enum Stage1 {
    final class LegacySessionProvider: AccessTokenProviding {
        private let session: LegacySession

        init(of session: LegacySession) {
            self.session = session
        }

        func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
            session.retrieveToken { result in
                handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
            }
            return AccessTokenRetrieval(onCancel: nil)
        }

        // The session can do neither; what comes at stage 2 can.
        func invalidate(_ rejected: AccessToken) {}
        func signOut(then done: @escaping @Sendable () -> Void) { done() }
    }

    struct FriendsClient {
        let tokens: any AccessTokenProviding
        let server: FriendsServer

        func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
            tokens.retrieveToken { [server] result in
                switch result {
                case .success(let token): server.friends(bearer: token.value) { handler($0.map(\.friends)) }
                case .failure(let error): handler(.failure(error))
                }
            }
        }
    }

    struct App {
        let tokens: any AccessTokenProviding
        let friends: FriendsClient

        init(endpoint: YourEndpoint, server: FriendsServer) {
            tokens = LegacySessionProvider(of: LegacySession(requestToken: endpoint.requestToken))
            friends = FriendsClient(tokens: tokens, server: server)
        }
    }
}
