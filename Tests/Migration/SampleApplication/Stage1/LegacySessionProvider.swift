import AccessTokenGCD
import SampleShared

/// Today's session in the shape that every later service has.
nonisolated final class LegacySessionProvider: AccessTokenProviding {
    private let session: LegacySession
    private let keychain: Keychain

    init(of session: LegacySession, keychain: Keychain) {
        self.session = session
        self.keychain = keychain
    }

    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        session.retrieveToken { result in
            handler(
                result
                    .map { AccessToken(value: $0.value, expiration: $0.expiresAt) }
                    .mapError { Self.errorForCallers($0) }
            )
        }
        return AccessTokenRetrieval(onCancel: nil)
    }

    private static func errorForCallers(_ error: any Error) -> any Error {
        error as? SessionError == .signedOut ? AccessTokenError.signedOut : error
    }

    // The session cannot forget one token and keep another; what comes at stage 2 can.
    func invalidate(_ rejected: AccessToken) {}

    func signOut(then done: @escaping @Sendable () -> Void) {
        keychain.credential = nil
        session.signOut()
        done()
    }
}
