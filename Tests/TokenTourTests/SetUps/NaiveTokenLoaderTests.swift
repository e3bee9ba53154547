import AccessTokenCore
import AccessTokenOAuth
import LoopbackAuthorizationServer
import Testing

@testable import token_tour

@Suite("A naive set-up's loader is right as long as it is alone")
struct NaiveTokenLoaderTests {
    @Test("Load after load each sends the refresh token that the one before brought")
    func rotation() async throws {
        try await withServer { server in
            let held = HeldCredential(Credential(refreshToken: server.signIn().refreshToken))
            let loader = NaiveTokenLoader(endpoint: endpoint(server), store: held)
            for _ in 0..<3 {
                let token = try await loader.load(replacing: nil)
                #expect(try await server.status(for: token.value) == 200)
            }
            #expect(server.tally.tokenRequests == 3)
            #expect(server.tally.reuses == 0)
            #expect(held.exchanges == 3)
            #expect(held.rotations == 3)
        }
    }

    @Test("A refused refresh token is never sent again")
    func refusal() async throws {
        try await withServer { server in
            let pair = server.signIn()
            _ = try await server.exchange(pair.refreshToken)
            let held = HeldCredential(Credential(refreshToken: pair.refreshToken))
            let loader = NaiveTokenLoader(endpoint: endpoint(server), store: held)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            #expect(server.tally.tokenRequests == 2)
            #expect(held.refreshToken == pair.refreshToken)
        }
    }

    private func endpoint(_ server: RotatingAuthorizationServer) -> TokenEndpoint {
        TokenEndpoint(server.tokenEndpoint, authentication: .none(clientID: RotatingAuthorizationServer.clientID))
    }
}
