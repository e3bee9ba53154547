import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import Testing

@Suite(
    "django-oauth-toolkit, which rotates and revokes a family at the first reuse",
    .enabled(if: DjangoServer.present != nil, ".ci/run servers installs it, starts it and runs these tests"),
    .serialized,
    .timeLimit(.minutes(2))
)
struct DjangoTests {
    private static let secret = "s3cr:t %+/&"
    private static let rounds = 20
    private static let callers = 100

    private func server() throws -> DjangoServer { try #require(DjangoServer.present) }

    private func refuses(_ code: String, _ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("\(code) was expected")
        } catch {
            #expect((error as? OAuthError)?.code == code)
        }
    }

    @Test func `a code is exchanged once, with the client's proof in either way that the server takes`() async throws {
        let server = try server()
        for authentication in [
            ClientAuthentication.basic(clientID: "confidential", secret: Self.secret),
            .postBody(clientID: "confidential", secret: Self.secret),
        ] {
            let endpoint = try server.endpoint(authentication)
            let grant = try server.authorize("confidential")
            let response = try await endpoint.exchange(grant)
            #expect(response.scope.map { Set($0.split(separator: " ")) } == ["read", "write"])
            let refreshed = try await endpoint.exchange(.refreshToken(try #require(response.refreshToken)))
            #expect(refreshed.scope.map { Set($0.split(separator: " ")) } == ["read", "write"])
            await refuses("invalid_grant") { _ = try await endpoint.exchange(grant) }
        }
    }

    @Test func `a wrong client is a configuration mistake, and the refresh token stays good`() async throws {
        let server = try server()
        let right = try server.endpoint(.basic(clientID: "confidential", secret: Self.secret))
        let token = try #require(try await right.exchange(try server.authorize("confidential")).refreshToken)
        for wrong in [
            ClientAuthentication.basicRaw(clientID: "confidential", secret: Self.secret),
            .basic(clientID: "confidential", secret: "wrong"), .none(clientID: "confidential"),
        ] {
            let endpoint = try server.endpoint(wrong)
            await refuses("invalid_client") { _ = try await endpoint.exchange(.refreshToken(token)) }
        }
        _ = try await right.exchange(.refreshToken(token))
    }

    @Test func `a machine gets tokens on its own authority`() async throws {
        let endpoint = try server().endpoint(.basic(clientID: "machine", secret: Self.secret))
        let store = MemoryCredentialStore()
        let loader = OAuthLoader(endpoint: endpoint, store: store, grant: .clientCredentials(scope: "read"))
        let first = try await loader.load(replacing: nil)
        #expect(first.expiration != nil)
        #expect(try await loader.load(replacing: first) != first)
        #expect(try await store.refreshToken == nil)
    }

    @Test func `both worlds, a hundred callers and twenty rejections are twenty exchanges`() async throws {
        let server = try server()
        let endpoint = try server.endpoint(.none(clientID: "public"))
        let response = try await endpoint.exchange(try server.authorize("public"))
        let store = MemoryCredentialStore(Credential(response))
        let services: [any AsyncAccessTokenProviding] = [
            AsyncAccessTokenService(loader: OAuthLoader(endpoint: endpoint, store: store)),
            AccessTokenService(loader: CallbackLoaderView(of: OAuthLoader(endpoint: endpoint, store: store))),
        ]
        let before = try server.tokenRequests
        for service in services { #expect(try await service.token() == response.accessToken) }
        var rejected = response.accessToken
        for _ in 0..<Self.rounds {
            let tokens = try await withThrowingTaskGroup(of: AccessToken.self) { [rejected] group in
                for number in 0..<Self.callers {
                    group.addTask {
                        let service = services[number % services.count]
                        await service.invalidate(rejected)
                        return try await service.token()
                    }
                }
                return try await group.reduce(into: Set<AccessToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
            rejected = try #require(tokens.first { $0 != rejected })
        }
        #expect(try server.tokenRequests - before == Self.rounds)
    }

    @Test func `the reuse of a refresh token ends the session, and is told as the need to sign in`() async throws {
        let server = try server()
        let endpoint = try server.endpoint(.none(clientID: "public"))
        let response = try await endpoint.exchange(try server.authorize("public"))
        let spent = try #require(response.refreshToken)
        let store = MemoryCredentialStore(Credential(try await endpoint.exchange(.refreshToken(spent))))
        await refuses("invalid_grant") { _ = try await endpoint.exchange(.refreshToken(spent)) }
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let current = try await store.load()?.credential.accessToken
        await refuses("invalid_grant") { _ = try await loader.load(replacing: current) }
        #expect(try await store.credential == nil)
    }

    @Test func `a sign-out leaves nothing that could be used`() async throws {
        let server = try server()
        let endpoint = try server.endpoint(.none(clientID: "public"))
        let credential = Credential(try await endpoint.exchange(try server.authorize("public")))
        let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(credential)) { error in
            Issue.record("\(error)")
        }
        await loader.signOut()
        let token = try #require(credential.refreshToken)
        await refuses("invalid_grant") { _ = try await endpoint.exchange(.refreshToken(token)) }
    }
}
