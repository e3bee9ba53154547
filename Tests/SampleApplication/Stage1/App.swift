import AccessTokenGCD
import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let session: LegacySession
    private let tokens: any AccessTokenProviding

    init(authorization: AuthorizationServer, api: API, keychain: Keychain) {
        self.keychain = keychain
        session = LegacySession(requestToken: TokenRequest(authorization: authorization, keychain: keychain).send)
        tokens = LegacySessionProvider(of: session)
        profile = ProfileModel(
            userService: UserService(tokens: tokens, api: api),
            friendsService: FriendsService(tokens: tokens, api: api)
        )
    }

    func signIn(_ credential: Credential) {
        keychain.credential = credential
        session.signIn(LegacyToken(value: credential.accessToken, expiresAt: credential.expiresAt))
    }

    func signOut() {
        profile.signOut()
        keychain.credential = nil
        tokens.signOut {}
    }
}
