import AccessTokenGCD
import Dispatch

enum CallbackExample {
    struct TokenLoader: AccessTokenLoader {
        let endpoint: YourEndpoint

        func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
            endpoint.requestToken { result in
                handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
            }
        }
    }

    static func run(
        endpoint: YourEndpoint,
        send: @escaping @Sendable (AccessToken) -> Void,
        show: @escaping @Sendable (any Error) -> Void
    ) -> AccessTokenService {
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint), queue: .main)

        service.retrieveToken { result in
            switch result {
            case .success(let token): send(token)
            case .failure(let error): show(error)
            }
        }

        return service
    }
}
