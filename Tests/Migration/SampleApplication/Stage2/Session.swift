import AccessTokenAdapters
import Foundation
import SampleShared

/// What stands behind the callers: the only place that knows which engine it is.
nonisolated struct Session: Sendable {
    let tokens: any AccessTokenProviding
    let signIn: @Sendable (AccessToken) -> Void

    typealias Engine = (_ exchange: @escaping Exchange, _ keychain: Keychain) -> Session

    static func engine(exchange: @escaping Exchange, keychain: Keychain) -> Session {
        .actor(exchange: exchange, keychain: keychain)
    }

    static func legacy(exchange: @escaping Exchange, keychain: Keychain) -> Session {
        let session = LegacySession(requestToken: TokenRequest(exchange: exchange, keychain: keychain).send)
        return Session(tokens: LegacySessionProvider(of: session, keychain: keychain)) { token in
            session.signIn(LegacyToken(value: token.value, expiresAt: token.expiration ?? .distantFuture))
        }
    }

    static func actor(exchange: @escaping Exchange, keychain: Keychain) -> Session {
        let loader = TokenLoader(exchange: exchange, keychain: keychain)
        let service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader))
        let tokens = CallbackServiceAdapter(of: service)
        return Session(tokens: tokens) { token in tokens.callInOrder { await service.signIn(token) } }
    }
}
