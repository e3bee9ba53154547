import AccessTokenAdapters
import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The logins of the documentation")
struct LoginsTests {
    /// A server where a user decides at once.
    private func withServer(
        _ user: String?,
        _ body: (RotatingAuthorizationServer, @escaping @Sendable (URL) async -> URL?) async throws -> Void
    ) async throws {
        let server = try RotatingAuthorizationServer(
            clients: [
                .public("app", redirectURIs: ["com.example.app:/callback"]), .public("tool"), .public("television"),
            ]
        )
        defer { server.stop() }
        try await body(server) { url in server.redirect(for: url, user: user) }
    }

    @Test func `an app, a terminal and a television each begin a session`() async throws {
        try await withServer("alice") { server, decide in
            let app = try await logInFromApp(at: server.issuer) { url in try #require(await decide(url)) }
            let terminal = try await logInFromTerminal(at: server.issuer, say: { #expect($0.contains("/authorize?")) })
            {
                url in
                // What a browser does.
                Task {
                    guard let redirect = await decide(url) else { return }
                    _ = try? await URLSession.shared.data(from: redirect)
                }
            }
            let television = try await logInFromTelevision(at: server.issuer) { login in
                #expect(server.decide(userCode: login.userCode, user: "alice"))
            }
            for credential in [app, terminal, television] { #expect(credential.refreshToken != nil) }
            #expect(server.tally.signIns == 3)
        }
    }

    @Test func `the seven steps end with the notes of the user, also after a 401`() async throws {
        try await withServer("bob") { server, decide in
            let text = try await notes(ofUserAt: server.issuer, from: server.resource) { url in
                defer { server.fail(.unauthorized, at: .resource) }
                return try #require(await decide(url))
            }
            #expect(text.contains(#""user":"bob""#))
            #expect(server.tally.tokenRequests == 2)
        }
    }

    @Test func `a user who refuses is told apart from a failure`() async throws {
        try await withServer(nil) { server, decide in
            let refusal = await #expect(throws: LoginError.self) {
                try await logInFromApp(at: server.issuer) { url in try #require(await decide(url)) }
            }
            #expect(refusal?.isDenied == true)
            let other = await #expect(throws: LoginError.self) {
                try await logInFromTelevision(at: server.issuer) { server.decide(userCode: $0.userCode, user: nil) }
            }
            #expect(other?.isDenied == true)
            #expect(server.tally.signIns == 0)
        }
    }

    @Test func `callback code begins a session by one call, which is told of a failure`() async throws {
        let endpoint = TokenEndpoint(
            try #require(URL(string: "https://as.example/t")),
            authentication: .none(clientID: "app")
        )
        let credential = Credential(accessToken: AccessToken(value: "A1", expiration: nil), refreshToken: "R1")
        let store = MemoryCredentialStore()
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader))
        try await withCheckedThrowingContinuation { continuation in
            loader.signIn(credential, to: service) { continuation.resume(with: $0) }
        }
        #expect(service.currentToken?.value == "A1")
        #expect(try await store.load()?.credential.refreshToken == "R1")

        // A place that is no folder.
        let broken = OAuthLoader(
            endpoint: endpoint,
            store: FileCredentialStore(folder: URL(fileURLWithPath: "/dev/null/a"))
        )
        let other = AccessTokenService(loader: CallbackLoaderAdapter(of: broken))
        await #expect(throws: CredentialStoreError.self) {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                broken.signIn(credential, to: other) { continuation.resume(with: $0) }
            }
        }
        #expect(other.currentToken == nil)
    }
}
