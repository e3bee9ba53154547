import AccessTokenGCD
import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let tokens: AccessTokenService

    init(authorization: AuthorizationServer, api: API, keychain: Keychain) {
        self.keychain = keychain
        tokens = AccessTokenService(loader: TokenLoader(exchange: authorization.exchange, keychain: keychain))
        profile = ProfileModel(
            userService: UserService(tokens: tokens, api: api),
            friendsService: FriendsService(tokens: tokens, api: api)
        )
    }

    func signIn(_ credential: Credential) {
        keychain.credential = credential
        tokens.signIn(AccessToken(value: credential.accessToken, expiration: credential.expiresAt))
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        profile.signOut()
        tokens.signOut(then: done)
    }
}
