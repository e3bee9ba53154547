import AccessTokenGCD

enum CallbackCode {
    nonisolated struct RotatingLoader: AccessTokenLoader {
        let endpoint: YourEndpoint
        let keychain: YourKeychain

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            guard let sent = keychain.refreshToken else { return handler(.failure(AccessTokenError.signedOut)) }
            endpoint.exchange(sent) { result in
                handler(
                    result.map { reply in
                        keychain.replace(sent, with: reply.refreshToken)
                        return AccessToken(value: reply.value, expiration: reply.expiresAt)
                    }
                )
            }
        }

        func signOut(then done: @escaping @Sendable () -> Void) {
            keychain.removeRefreshToken()
            done()
        }
    }

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

    static func session(
        of service: AccessTokenService,
        from storedToken: AccessToken,
        forgetWhatIsOnTheScreen: @escaping @Sendable () -> Void
    ) {
        service.signIn(storedToken)
        service.signOut { forgetWhatIsOnTheScreen() }
    }
}
