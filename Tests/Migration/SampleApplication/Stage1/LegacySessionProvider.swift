import AccessTokenGCD

/// Today's session in the shape that every later service has.
nonisolated final class LegacySessionProvider: AccessTokenProviding {
    private let session: LegacySession

    init(of session: LegacySession) {
        self.session = session
    }

    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        session.retrieveToken { result in
            handler(
                result
                    .map { AccessToken(value: $0.value, expiration: $0.expiresAt) }
                    .mapError { $0 as? SessionError == .signedOut ? AccessTokenError.signedOut : $0 }
            )
        }
        return AccessTokenRetrieval(onCancel: nil)
    }

    // The session cannot forget one token and keep another; what comes at stage 2 can.
    func invalidate(_ rejected: AccessToken) {}

    func signOut(then done: @escaping @Sendable () -> Void) {
        session.signOut()
        done()
    }
}
