import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("A refresh token that comes alone", .timeLimit(.minutes(2)))
struct RescueTests {
    @Test func `a refresh token without a usable access token leaves the valid one in the store`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, #"{"token_type":"Bearer","refresh_token":"RT1"}"#)
        } _: { server in
            let valid = AccessToken(value: "A0", expiration: .now.addingTimeInterval(3000))
            let store = MemoryCredentialStore(Credential(accessToken: valid, refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: valid) }
            #expect(try await store.refreshToken == "RT1")
            #expect(try await store.credential?.accessToken == valid)
        }
    }
}
