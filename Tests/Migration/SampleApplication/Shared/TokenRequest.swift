/// The app's request for a new token: sends the refresh token from the keychain, and stores its successor.
package nonisolated struct TokenRequest {
    let exchange: Exchange
    let keychain: Keychain

    package init(exchange: @escaping Exchange, keychain: Keychain) {
        self.exchange = exchange
        self.keychain = keychain
    }

    @Sendable package func send(then handler: @escaping LegacySession.Handler) {
        guard let sent = keychain.credential else { return handler(.failure(SessionError.signedOut)) }
        exchange(sent.refreshToken) { [keychain] result in
            handler(
                result.map { new in
                    keychain.credential = new
                    return LegacyToken(value: new.accessToken, expiresAt: new.expiresAt)
                }
            )
        }
    }
}

package nonisolated enum SessionError: Error {
    case signedOut
}
