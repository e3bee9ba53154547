import AccessTokenAsync
import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let service: AsyncAccessTokenService

    init(authorization: AuthorizationServer, api: API, keychain: Keychain) {
        self.keychain = keychain
        let loader = TokenLoader(exchange: authorization.exchange, keychain: keychain)
        service = AsyncAccessTokenService(loader: loader)
        profile = ProfileModel(
            userService: UserService(tokens: service, api: api),
            friendsService: FriendsService(tokens: service, api: api)
        )
    }

    func signIn(_ credential: Credential) async {
        keychain.credential = credential
        await service.signIn(AccessToken(value: credential.accessToken, expiration: credential.expiresAt))
    }

    func signOut() async {
        profile.signOut()
        await service.signOut()
    }
}
