import AccessTokenAdapters
import SampleShared

/// Where the app is put together.
@MainActor
final class App {
    let profile: ProfileModel
    private let keychain: Keychain
    private let service: AsyncAccessTokenService
    private let tokens: CallbackServiceAdapter

    init(authorization: AuthorizationServer, api: API, keychain: Keychain) {
        self.keychain = keychain
        let loader = TokenLoader(exchange: authorization.exchange, keychain: keychain)
        service = AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader))
        tokens = CallbackServiceAdapter(of: service)
        profile = ProfileModel(
            userService: UserService(tokens: tokens, api: api),
            friendsService: FriendsService(tokens: AsyncServiceAdapter(of: tokens), api: api)
        )
    }

    func signIn(_ credential: Credential) {
        keychain.credential = credential
        let token = AccessToken(value: credential.accessToken, expiration: credential.expiresAt)
        tokens.callInOrder { [service] in await service.signIn(token) }
    }

    func signOut(then done: @escaping @Sendable () -> Void) {
        profile.signOut()
        tokens.signOut(then: done)
    }
}
