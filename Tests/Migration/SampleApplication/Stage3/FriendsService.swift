import AccessTokenAsync
import SampleShared

struct FriendsService {
    let tokens: any AsyncAccessTokenProviding
    let api: API

    func friends() async throws -> [String] {
        try await api.friends(bearer: tokens.token().value)
    }

    @available(*, renamed: "friends()")
    func friends(then handler: @escaping @Sendable (Result<[String], any Error>) -> Void) {
        Task {
            do { handler(.success(try await friends())) } catch { handler(.failure(error)) }
        }
    }
}
