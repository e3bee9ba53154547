import AccessTokenGCD
import Dispatch

@MainActor
final class FriendsScreen {
    let tokens: AccessTokenService
    var show: (Result<AccessToken, any Error>) -> Void = { print($0) }

    init(loader: any AccessTokenLoader) {
        tokens = AccessTokenService(loader: loader, handlerQueue: .main)
    }

    func appear() {
        tokens.retrieveToken { result in
            // True because of `handlerQueue: .main`.
            MainActor.assumeIsolated { self.show(result) }
        }
    }
}
