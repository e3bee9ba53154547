import AccessTokenGCD
import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let session: Session

    init(authorization: AuthorizationServer, api: API, keychain: Keychain, engine: Session.Engine = Session.engine) {
        self.keychain = keychain
        session = engine(authorization.exchange, keychain)
        profile = ProfileModel(
            userService: UserService(tokens: session.tokens, api: api),
            friendsService: FriendsService(tokens: session.tokens, api: api)
        )
    }

    func signIn(_ credential: Credential) {
        keychain.credential = credential
        session.signIn(AccessToken(value: credential.accessToken, expiration: credential.expiresAt))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        profile.signOut()
        session.tokens.signOut(then: done)
    }
}
