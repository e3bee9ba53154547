import SampleShared

/// The app's request for a new token: sends the refresh token from the keychain, and stores its successor.
struct TokenRequest {
    let authorization: AuthorizationServer
    let keychain: Keychain

    func send(then handler: @escaping LegacySession.Handler) {
        guard let sent = keychain.credential else { return handler(.failure(SessionError.signedOut)) }
        authorization.exchange(sent.refreshToken) { [keychain] result in
            handler(
                result.map { new in
                    keychain.credential = new
                    return LegacyToken(value: new.accessToken, expiresAt: new.expiresAt)
                }
            )
        }
    }
}

enum SessionError: Error {
    case signedOut
}
