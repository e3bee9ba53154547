import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let session: LegacySession

    init(authorization: AuthorizationServer, api: API, keychain: Keychain) {
        self.keychain = keychain
        session = LegacySession(requestToken: TokenRequest(exchange: authorization.exchange, keychain: keychain).send)
        profile = ProfileModel(
            userService: UserService(session: session, api: api),
            friendsService: FriendsService(session: session, api: api)
        )
    }

    func signIn(_ credential: Credential) {
        keychain.credential = credential
        session.signIn(LegacyToken(value: credential.accessToken, expiresAt: credential.expiresAt))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        profile.signOut()
        keychain.credential = nil
        session.signOut()
        done()
    }
}
