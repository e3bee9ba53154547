import AccessTokenGCD
import Dispatch

@MainActor
final class CallbackSession {
    enum Screen { case content, signIn }

    private(set) var screen: Screen
    private(set) var friends: [String] = []
    /// What the user is told beside the content, until the next success.
    private(set) var message: String?
    /// A new number at each login and logout: keep it with a request, and pass it to `show` with the result.
    private(set) var sessionEpoch = 0

    let tokens: AccessTokenService
    private let keychain: YourKeychain
    private let signOuts = DispatchGroup()

    init(endpoint: YourEndpoint, keychain: YourKeychain) {
        self.keychain = keychain
        tokens = AccessTokenService(
            token: keychain.accessToken,
            loader: TokenLoader(endpoint: endpoint, keychain: keychain),
            handlerQueue: .main
        )
        screen = keychain.refreshToken == nil ? .signIn : .content
    }

    /// Whether a session is stored: an expired access token is no sign-out.
    var isSignedIn: Bool { keychain.refreshToken != nil }

    func signIn(with reply: YourEndpoint.Token) {
        sessionEpoch += 1
        let sessionEpoch = sessionEpoch
        signOuts.notify(queue: .main) {  // A sign-out that is under way would remove what is stored before its end.
            MainActor.assumeIsolated {
                guard sessionEpoch == self.sessionEpoch else { return }  // A later sign-out or login counts.
                let token = AccessToken(value: reply.value, expiration: reply.expiresAt)
                self.keychain.store(reply.refreshToken, token)
                self.tokens.signIn(token)
                (self.screen, self.friends, self.message) = (.content, [], nil)
                self.sessionEpoch += 1
            }
        }
    }

    func signOut() {
        (screen, friends, message) = (.signIn, [], nil)
        sessionEpoch += 1
        keychain.removeTokens()  // `isSignedIn` is false at once, also after a crash.
        signOuts.enter()
        tokens.signOut { [signOuts] in signOuts.leave() }
    }

    /// Shows the result of a request that needed a token.
    func show(_ result: Result<[String], any Error>, of sessionEpoch: Int) {
        guard sessionEpoch == self.sessionEpoch else { return }  // It is late, and perhaps another user's.
        switch result {
        case .success(let friends):
            (self.friends, message) = (friends, nil)
        case .failure(AccessTokenError.signedOut):
            screen = .signIn  // Three such answers at once lead to one screen.
        case .failure(is CancellationError):
            break
        case .failure:
            message = "This does not work now. Try again in a moment."  // No network, or a busy server.
        }
    }
}
