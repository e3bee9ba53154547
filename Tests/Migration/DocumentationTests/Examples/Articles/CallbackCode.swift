import AccessTokenGCD

enum CallbackCode {
    nonisolated struct Friends: Sendable {
        let tokens: any AccessTokenProviding
        let server: FriendsServer

        func load(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
            tokens.withToken(isRejected: { $0.status == 401 }) { token, reply in
                server.friends(bearer: token.value, then: reply)
            } then: { result in
                handler(result.map(\.friends))
            }
        }
    }

    final class PictureView: Sendable {
        private let retrieval: AccessTokenRetrieval

        init(tokens: any AccessTokenProviding, show: @escaping @Sendable (Result<AccessToken, any Error>) -> Void) {
            retrieval = tokens.retrieveToken(then: show)
        }

        deinit { retrieval.cancel() }
    }
}
