import AccessTokenCore
import AccessTokenOAuth
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import TokenTour

@Suite("A naive loader is right as long as there is one load at a time", .eightAtATime)
struct NaiveTokenLoaderTests {
    @Test("Each load sends the refresh token that the load before received")
    func rotation() async throws {
        try await withServer { server in
            let store = MemoryCredentialStore(Credential(refreshToken: server.signIn().refreshToken))
            let loader = NaiveTokenLoader(endpoint: endpoint(server), store: store)
            for _ in 0..<3 {
                let token = try await loader.load(replacing: nil)
                #expect(try await server.status(for: token.value) == 200)
            }
            #expect(server.tally.tokenRequests == 3)
            #expect(server.tally.reuses == 0)
        }
    }

    @Test("A refused refresh token is never sent again")
    func refusal() async throws {
        try await withServer { server in
            let pair = server.signIn()
            _ = try await server.exchange(pair.refreshToken)
            let store = MemoryCredentialStore(Credential(refreshToken: pair.refreshToken))
            let loader = NaiveTokenLoader(endpoint: endpoint(server), store: store)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            #expect(server.tally.tokenRequests == 2)
        }
    }

    private func endpoint(_ server: RotatingAuthorizationServer) -> TokenEndpoint {
        TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: RotatingAuthorizationServer.clientID))
    }
}
