import AccessTokenAsync
import SampleShared

struct UserService {
    let tokens: any AsyncAccessTokenProviding
    let api: API

    func user() async throws -> String {
        try await api.user(bearer: tokens.token().value)
    }
}
