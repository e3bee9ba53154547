import AccessTokenGCD
import SampleShared

/// What stands behind the callers: the only place that knows which engine it is.
nonisolated struct Session: Sendable {
    let tokens: any AccessTokenProviding
    let signIn: @Sendable (AccessToken) -> Void

    static func engine(exchange: @escaping Exchange, keychain: Keychain) -> Session {
        let service = AccessTokenService(loader: TokenLoader(exchange: exchange, keychain: keychain))
        return Session(tokens: service) { service.signIn($0) }
    }
}
