import AccessTokenGCD

@MainActor
final class ProfileLoader {
    private let tokens: AccessTokenService  // made with `handlerQueue: .main`
    private let server: FriendsServer

    init(tokens: AccessTokenService, server: FriendsServer) {
        self.tokens = tokens
        self.server = server
    }

    func friends(then completion: @escaping @MainActor @Sendable (Result<[String], any Error>) -> Void) {
        let server = server
        tokens.withToken(isRejected: { $0.status == 401 }) { token, reply in
            server.friends(bearer: token.value, then: reply)
        } then: { result in
            MainActor.assumeIsolated {
                switch result {
                case .success(let reply): completion(.success(reply.friends))
                case .failure(let error): completion(.failure(error))
                }
            }
        }
    }
}
