import AccessTokenAsync
import AccessTokenOAuth
import Foundation
import TestKeys
import Testing

extension RealServerTests {
    /// Its token endpoint wants a proof with a nonce, by a 401, and gives no nonce with a success.
    @Suite(
        "authgent-server, which wants proofs of possession with its nonces",
        .enabled(if: RealServer.authgent != nil, Comment(rawValue: RealServer.command))
    )
    struct AuthgentTests {
        private func server() throws -> (RealServer, issuer: URL, clientID: String) {
            let server = try #require(RealServer.authgent)
            let issuer = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
            return (server, issuer, try server.file("client"))
        }

        /// A login, from its metadata to the credential.
        private func logIn() async throws -> (endpoint: TokenEndpoint, Credential) {
            let (server, issuer, clientID) = try server()
            let found = try await AuthorizationServer.discover(issuer)
            var endpoint = try found.tokenEndpoint(.none(clientID: clientID))
            endpoint.proofKeys = .ofThisMachine
            let login = try AuthorizationCodeLogin(
                at: found,
                clientID: clientID,
                redirectURI: "http://127.0.0.1/cb",
                scope: "read",
                proofKeys: endpoint.proofKeys
            )
            let words = try await server.script("authorize.sh", "\(server.port)", login.url.absoluteString)
            let grant = try login.grant(from: try #require(words.first.flatMap { URL(string: $0) }))
            return (endpoint, Credential(try await endpoint.exchange(grant)))
        }

        @Test func `a session is renewed again and again by many callers`() async throws {
            let (endpoint, credential) = try await logIn()
            let store = MemoryCredentialStore(credential)
            let service = AsyncAccessTokenService(loader: OAuthLoader(endpoint: endpoint, store: store))
            var seen: Set<String> = []
            for _ in 0..<10 {
                let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { group in
                    for _ in 0..<50 { group.addTask { try await service.token() } }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(tokens.count == 1)
                for token in tokens {
                    seen.insert(token.value)
                    await service.invalidate(token)
                }
            }
            #expect(seen.count == 10)
            #expect(try await store.refreshToken != credential.refreshToken)
        }

        @Test func `endpoints that know no nonce yet take turns with one session, and lose nothing`() async throws {
            let (endpoint, credential) = try await logIn()
            let store = MemoryCredentialStore(credential)
            var token = credential.accessToken
            for _ in 0..<5 {
                var other = TokenEndpoint(endpoint.url, authentication: endpoint.authentication)
                other.proofKeys = .ofThisMachine
                token = try await OAuthLoader(endpoint: other, store: store).load(replacing: token)
            }
            #expect(token != credential.accessToken)
        }

        @Test func `a refresh token without a proof is refused, and not spent`() async throws {
            let (endpoint, credential) = try await logIn()
            var unbound = endpoint
            unbound.proofKeys = nil
            let loader = OAuthLoader(endpoint: unbound, store: MemoryCredentialStore(credential))
            let error = await #expect(throws: OAuthError.self) {
                try await loader.load(replacing: credential.accessToken)
            }
            #expect(error?.isConfigurationMistake == true)
            let refreshToken = try #require(credential.refreshToken)
            await refuses("invalid_request") { _ = try await unbound.exchange(.refreshToken(refreshToken)) }
            let again = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(credential))
            _ = try await again.load(replacing: credential.accessToken)
        }
    }
}
