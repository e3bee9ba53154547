import AccessTokenGCD
import SampleShared

struct FriendsService {
    let tokens: any AccessTokenProviding
    let api: API

    func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
        tokens.retrieveToken { [api] result in
            switch result {
            case .success(let token): api.friends(bearer: token.value, then: handler)
            case .failure(let error): handler(.failure(error))
            }
        }
    }
}
