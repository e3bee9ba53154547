import AccessTokenAdapters
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum Requests {
    static func service(tokenURL: URL, firstCredential: Credential) async throws -> AsyncAccessTokenService {
        let endpoint = TokenEndpoint(tokenURL, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
        try await loader.signIn(firstCredential)
        return AsyncAccessTokenService(loader: ThrottlingLoader(RetryingLoader(loader)))
    }

    static func requests(
        with service: AsyncAccessTokenService,
        apiURL: URL,
        show: @escaping @Sendable (Result<(Data, URLResponse), any Error>) -> Void
    ) async throws -> Int? {
        let friendsURL = apiURL.appendingPathComponent("friends")
        let picturesURL = apiURL.appendingPathComponent("pictures")

        let friends = AsyncBearerSession(tokens: service, origins: [apiURL])
        async let reply = friends.data(for: URLRequest(url: friendsURL))

        let configuration = URLSessionConfiguration.keepingNothing
        configuration.timeoutIntervalForRequest = 10
        let pictures = BearerSession(
            tokens: CallbackServiceAdapter(of: service),
            origins: [apiURL],
            configuration: configuration,
            handlerQueue: .main
        )
        pictures.data(for: URLRequest(url: picturesURL)) { result in show(result) }

        return try await (reply.1 as? HTTPURLResponse)?.statusCode
    }
}
