import AccessTokenOAuth
import Foundation
import Testing

enum OAuthExample {
    static func service(tokenURL: URL, firstCredential: Credential) async throws -> AsyncAccessTokenService {
        let endpoint = TokenEndpoint(tokenURL, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
        try await loader.signIn(firstCredential)
        return AsyncAccessTokenService(loader: ThrottlingLoader(RetryingLoader(loader)))
    }
}

@Suite("The OAuth example of the README")
struct OAuthExampleTests {
    @Test func `makes a service out of a token endpoint and a credential`() async throws {
        let url = try #require(URL(string: "https://as.example/token"))
        let token = AccessToken(value: "first", expiration: .distantFuture)
        let service = try await OAuthExample.service(
            tokenURL: url,
            firstCredential: Credential(accessToken: token, refreshToken: "refresh")
        )
        #expect(try await service.token() == token)
    }
}
