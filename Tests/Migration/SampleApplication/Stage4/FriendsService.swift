import AccessTokenAsync
import SampleShared

struct FriendsService {
    let tokens: any AsyncAccessTokenProviding
    let api: API

    func friends() async throws -> [String] {
        try await api.friends(bearer: tokens.token().value)
    }
}
