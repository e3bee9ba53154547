import AccessTokenCore
import AccessTokenOAuth
import Foundation
import Testing

@testable import AccessTokenOAuth

extension RealServerTests {
    @Suite(
        "django-oauth-toolkit, which rotates and revokes a family at the first reuse",
        .enabled(if: RealServer.django != nil, Comment(rawValue: RealServer.command))
    )
    struct DjangoTests {
        private static let secret = "s3cr:t %+/&"
        private static let basic = ClientAuthentication.basic(clientID: "confidential", secret: secret)
        private static let post = ClientAuthentication.postBody(clientID: "confidential", secret: secret)

        private func server() throws -> RealServer { try #require(RealServer.django) }

        @Test(arguments: [basic, post, .none(clientID: "public")])
        func `a code is exchanged once, and refreshed, with each proof that the server takes`(
            authentication: ClientAuthentication
        ) async throws {
            let server = try server()
            let endpoint = try server.endpoint(authentication)
            let grant = try await server.authorize("\(authentication)".contains("public") ? "public" : "confidential")
            let response = try await endpoint.exchange(grant)
            #expect(response.scope.map { Set($0.split(separator: " ")) } == ["read", "write"])
            let refreshed = try await endpoint.exchange(.refreshToken(try #require(response.refreshToken)))
            #expect(refreshed.scope.map { Set($0.split(separator: " ")) } == ["read", "write"])
            await refuses("invalid_grant") { _ = try await endpoint.exchange(grant) }
        }

        @Test func `a wrong client is a configuration mistake, and the refresh token stays good`() async throws {
            let server = try server()
            let right = try server.endpoint(Self.basic)
            let token = try #require(try await right.exchange(try await server.authorize("confidential")).refreshToken)
            for wrong in [
                ClientAuthentication.basicRaw(clientID: "confidential", secret: Self.secret),
                .basic(clientID: "confidential", secret: "wrong"), .none(clientID: "confidential"),
                .postBody(clientID: "nobody", secret: Self.secret),
            ] {
                let endpoint = try server.endpoint(wrong)
                await refuses("invalid_client") { _ = try await endpoint.exchange(.refreshToken(token)) }
            }
            _ = try await right.exchange(.refreshToken(token))
        }

        @Test func `a name and a password begin a session, for servers that have nothing else`() async throws {
            let server = try server()
            let endpoint = try server.endpoint(.basic(clientID: "password", secret: Self.secret))
            let response = try await endpoint.exchange(.password("wonderland", username: "alice", scope: "read"))
            #expect(try await server.status(for: response.accessToken) == 200)
            #expect(response.refreshToken != nil)
            await refuses("invalid_grant") { _ = try await endpoint.exchange(.password("other", username: "alice")) }
        }

        @Test func `a machine gets tokens on its own authority`() async throws {
            let endpoint = try server().endpoint(.basic(clientID: "machine", secret: Self.secret))
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: endpoint, store: store, grant: .clientCredentials(scope: "read"))
            let first = try await loader.load(replacing: nil)
            #expect(first.expiration != nil)
            let second = try await loader.load(replacing: first)
            #expect(second != first)
            #expect(try await server().status(for: second) == 200)
            #expect(try await store.refreshToken == nil)
        }

        @Test func `a device waits for its user, and begins a session`() async throws {
            let server = try server()
            let endpoint = try server.endpoint(.none(clientID: "device"))
            let login = try await DeviceLogin(at: try server.authorizationServer, with: endpoint)
            async let answer = login.response()
            try await server.script("device.sh", "\(server.port)", "accept", "device", login.userCode)
            let response = try await answer
            #expect(try await server.status(for: response.accessToken) == 200)
            let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(Credential(response)))
            let next = try await loader.load(replacing: response.accessToken)
            #expect(try await server.status(for: next) == 200)
        }

        @Test func `a user refuses a device, and the scope of a login that the server does not have`() async throws {
            let server = try server()
            let endpoint = try server.endpoint(.none(clientID: "device"))
            let login = try await DeviceLogin(at: try server.authorizationServer, with: endpoint)
            try await server.script("device.sh", "\(server.port)", "deny", "device", login.userCode)
            let refusal = await #expect(throws: LoginError.self) { try await login.response() }
            #expect(refusal?.isDenied == true)

            let unknown = try AuthorizationCodeLogin(
                at: try server.authorizationServer,
                clientID: "public",
                redirectURI: "http://127.0.0.1/cb",
                scope: "everything"
            )
            let words = try await server.script("authorize.sh", "\(server.port)", unknown.url.absoluteString)
            let redirect = try #require(words.first.flatMap { URL(string: $0) })
            let error = #expect(throws: LoginError.self) { try unknown.grant(from: redirect) }
            #expect(error?.code == "invalid_scope" && error?.isConfigurationMistake == true)
        }

        @Test func `the reuse of a refresh token ends the session, and is told as the need to sign in`() async throws {
            let endpoint = try server().endpoint()
            let response = try await endpoint.exchange(try await server().authorize())
            let spent = try #require(response.refreshToken)
            let store = MemoryCredentialStore(Credential(try await endpoint.exchange(.refreshToken(spent))))
            await refuses("invalid_grant") { _ = try await endpoint.exchange(.refreshToken(spent)) }
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            let current = try await store.credential?.accessToken
            await refuses("invalid_grant") { _ = try await loader.load(replacing: current) }
            #expect(try await store.credential == nil)
        }

        @Test func `a scope that is named at a refresh narrows it for ever, and none is named by itself`() async throws
        {
            let endpoint = try server().endpoint()
            let first = try #require(try await endpoint.exchange(try await server().authorize()).refreshToken)
            let narrowed = try await endpoint.exchange(.refreshToken(first, scope: "read"))
            #expect(narrowed.scope == "read")
            let store = MemoryCredentialStore(Credential(narrowed))
            let loader = OAuthLoader(endpoint: endpoint, store: store)
            _ = try await loader.load(replacing: narrowed.accessToken)
            #expect(try await store.credential?.scope == "read")
        }
    }
}
