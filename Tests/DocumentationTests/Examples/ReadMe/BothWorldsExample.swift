import AccessTokenAdapters
import Dispatch

enum BothWorldsExample {
    static func run(
        loader: any AccessTokenLoader,
        show: @escaping @Sendable (Result<AccessToken, any Error>) -> Void
    ) async throws -> AccessToken {
        let service = AsyncAccessTokenService(loader: AsyncLoaderView(of: loader))
        let legacyService = CallbackServiceView(of: service, queue: .main)

        func legacyScreen() {
            legacyService.retrieveToken { result in show(result) }
        }

        func newScreen() async throws -> AccessToken {
            try await service.token()
        }

        legacyScreen()
        return try await newScreen()
    }
}
