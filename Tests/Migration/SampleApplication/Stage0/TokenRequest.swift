import SampleShared

/// The app's request for a new token: sends the refresh token from the keychain, and stores its successor.
nonisolated struct TokenRequest {
    let exchange: Exchange
    let keychain: Keychain

    @Sendable func send(then handler: @escaping LegacySession.Handler) {
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

nonisolated enum SessionError: Error {
    case signedOut
}
