import AccessTokenOAuth
import Foundation
import Testing

extension RealServerTests {
    @Suite(
        "oidc-provider-mock, which does not rotate",
        .enabled(if: RealServer.mock != nil, Comment(rawValue: RealServer.command))
    )
    struct MockTests {
        private func server() throws -> RealServer { try #require(RealServer.mock) }

        @Test func `a code is exchanged once, with the client's proof in either way`() async throws {
            let server = try server()
            for authentication in [
                ClientAuthentication.basic(clientID: "app", secret: "any"), .postBody(clientID: "app", secret: "any"),
            ] {
                let endpoint = try server.endpoint(authentication)
                let grant = try await server.authorize()
                let response = try await endpoint.exchange(grant)
                #expect(try await server.status(for: response.accessToken) == 200)
                #expect(response.refreshToken != nil)
                await refuses("invalid_grant") { _ = try await endpoint.exchange(grant) }
            }
        }

        @Test func `its metadata leads to a login`() async throws {
            let server = try server()
            let issuer = try #require(URL(string: "http://127.0.0.1:\(server.port)"))
            let found = try await AuthorizationServer.discover(issuer)
            let endpoint = try found.tokenEndpoint(.basic(clientID: "app", secret: "any"))
            let response = try await endpoint.exchange(try await server.authorize(at: found))
            #expect(try await server.status(for: response.accessToken) == 200)
        }

        @Test func `a refresh brings no refresh token, and the present one is kept`() async throws {
            let server = try server()
            let credential = try await server.signIn()
            let response = try await server.endpoint().exchange(.refreshToken(try #require(credential.refreshToken)))
            #expect(response.refreshToken == nil)
            let store = MemoryCredentialStore(credential)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            var token = credential.accessToken
            for _ in 0..<3 {
                let next = try await loader.load(replacing: token)
                #expect(next != token)
                #expect(try await server.status(for: next) == 200)
                #expect(try await store.refreshToken == credential.refreshToken)
                token = next
            }
        }

        @Test func `a refresh takes no other proof than Basic, and says so without harm`() async throws {
            let server = try server()
            let token = try #require(try await server.signIn().refreshToken)
            for wrong in [
                ClientAuthentication.none(clientID: "app"), .postBody(clientID: "app", secret: "any"),
            ] {
                let endpoint = try server.endpoint(wrong)
                await refuses("invalid_client") { _ = try await endpoint.exchange(.refreshToken(token)) }
            }
            _ = try await server.endpoint().exchange(.refreshToken(token))
        }
    }
}
