import AccessTokenOAuth
import Foundation
import TestKeys
import Testing

extension RealServerTests {
    /// Its endpoint for pushed requests looks at no proof; its token endpoint binds a token to the key of one.
    @Suite(
        "idpyoidc, which takes pushed requests",
        .enabled(if: RealServer.idpyoidc != nil, Comment(rawValue: RealServer.command))
    )
    struct IdpyoidcTests {
        /// A login by a request that was pushed, from the server's metadata to the tokens.
        private func logIn(
            _ keys: ProofKeys?,
            redirectURI: String = "http://127.0.0.1:1/callback"
        ) async throws -> (endpoint: TokenEndpoint, TokenResponse) {
            let server = try #require(RealServer.idpyoidc)
            let issuer = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
            let found = try await AuthorizationServer.discover(issuer)
            var endpoint = try found.tokenEndpoint(.none(clientID: "app"))
            endpoint.proofKeys = keys
            let login = try await AuthorizationCodeLogin(
                at: found,
                with: endpoint,
                redirectURI: redirectURI,
                scope: "openid offline_access",
                parameters: ["prompt": "consent"]
            )
            let names = URLComponents(url: login.url, resolvingAgainstBaseURL: true)?.queryItems?.map(\.name)
            #expect(names == ["client_id", "request_uri"])
            let words = try await server.script("authorize.sh", "\(server.port)", login.url.absoluteString)
            let grant = try login.grant(from: try #require(words.first.flatMap { URL(string: $0) }))
            return (endpoint, try await endpoint.exchange(grant))
        }

        @Test(arguments: [nil, ProofKeys.ofThisMachine])
        func `a login brings an ID token of its nonce, and a session that is renewed`(keys: ProofKeys?) async throws {
            let (endpoint, response) = try await logIn(keys)
            #expect(response.idToken != nil)
            let store = MemoryCredentialStore(Credential(response))
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            var token = response.accessToken
            for _ in 0..<3 {
                let former = try await store.refreshToken
                token = try await loader.load(replacing: token)
                #expect(try await store.refreshToken != former)
            }
            #expect(token != response.accessToken)
            let fields = try await loader.proofs.fields("GET", endpoint.url, with: token)
            #expect((fields["DPoP"] != nil) == (keys != nil))
        }

        @Test func `a request that it does not take is refused before a browser opens`() async throws {
            let error = await #expect(throws: LoginError.self) {
                try await logIn(nil, redirectURI: "http://127.0.0.1:1/other")
            }
            #expect(error?.code == "invalid_request" && error?.isConfigurationMistake == true)
        }
    }
}
