import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum SessionExample {
    static func run(
        service: AsyncAccessTokenService,
        apiURL: URL,
        show: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) async throws -> Int? {
        let friendsURL = apiURL.appending(path: "friends")
        let picturesURL = apiURL.appending(path: "pictures")

        let configuration = URLSessionConfiguration.keepingNothing
        configuration.timeoutIntervalForRequest = 10
        let pictures = BearerSession(
            tokens: CallbackServiceView(of: service),
            origins: [apiURL],
            configuration: configuration,
            queue: .main
        )
        pictures.dataTask(with: picturesURL) { data, response, error in show(data, error) }.resume()

        let friends = AsyncBearerSession(tokens: service, origins: [apiURL])
        let (data, response) = try await friends.data(from: friendsURL)

        return data.isEmpty ? nil : (response as? HTTPURLResponse)?.statusCode
    }
}

@Suite("The example of sessions in the README")
struct SessionExampleTests {
    struct NoNetwork: Error {}

    struct NoTokens: AsyncAccessTokenLoader {
        func load(replacing old: AccessToken?) async throws -> AccessToken { throw NoNetwork() }
    }

    @Test func `both sessions ask the one service`() async throws {
        let url = try #require(URL(string: "https://api.example"))
        let service = AsyncAccessTokenService(loader: NoTokens())
        let (errors, answer) = AsyncStream.makeStream(of: (any Error)?.self)
        await #expect(throws: NoNetwork.self) {
            try await SessionExample.run(service: service, apiURL: url) { answer.yield($1) }
        }
        #expect(await errors.first { _ in true } is NoNetwork)
    }
}
