import SampleShared

struct FriendsService {
    let session: LegacySession
    let api: API

    func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
        session.retrieveToken { [api] result in
            switch result {
            case .success(let token): api.friends(bearer: token.value, then: handler)
            case .failure(let error): handler(.failure(error))
            }
        }
    }
}
