import AccessTokenGCD
import SampleShared

struct UserService {
    let tokens: any AccessTokenProviding
    let api: API

    func user(then handler: @escaping @Sendable (Result<String, any Error>) -> Void) {
        tokens.retrieveToken { [api] result in
            switch result {
            case .success(let token): api.user(bearer: token.value, then: handler)
            case .failure(let error): handler(.failure(error))
            }
        }
    }
}
