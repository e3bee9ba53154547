import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("A refresh token that the server refuses", .eightAtATime, .timeLimit(.minutes(10)))
struct RefusedGrantTests {
    private let start = Credential(refreshToken: "RT0")

    private func refusing(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
        guard request.body.contains("refresh_token=RT0") else { return connection.reply(200, tokens("A9", "RT9")) }
        connection.reply(400, #"{"error":"invalid_grant"}"#)
    }

    @Test func `it is removed, and never sent again`() async throws {
        try await withServer(refusing) { server in
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            #expect(try await store.load() == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `it is not sent again either if it cannot be removed`() async throws {
        try await withServer(refusing) { server in
            let store = TroubledStore(start)
            let unheard = Locked(0)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store) { error in
                if error is TroubledStore.Trouble { unheard.withLock { $0 += 1 } }
            }
            store.fail(1)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            #expect(unheard.withLock { $0 } == 1)
            #expect(try await store.credential == start)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a record that a peer has rotated meanwhile is not removed but adopted`() async throws {
        let rotated = Credential(accessToken: AccessToken(value: "peer"), refreshToken: "RT1")
        let store = LeaseStore(start)
        try await withServer { connection, request in
            store.writeAsPeer(rotated)
            refusing(connection, request)
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: nil).value == "peer")
            #expect(try await store.credential == rotated)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `what a peer writes during an exchange is adopted, and not overwritten`() async throws {
        let newer = Credential(accessToken: AccessToken(value: "peer"), refreshToken: "RT5")
        let store = LeaseStore(Credential(refreshToken: "RT1"))
        try await withServer { connection, request in
            store.writeAsPeer(newer)
            refusing(connection, request)
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: nil).value == "peer")
            #expect(try await store.credential == newer)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `signing in again makes it forgotten`() async throws {
        try await withServer(refusing) { server in
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: nil) }
            try await loader.signIn(Credential(refreshToken: "RT1"))
            #expect(try await loader.load(replacing: nil).value == "A9")
            #expect(try await store.version == 3)
        }
    }

    @Test func `a loader with a grant of its own goes on with that`() async throws {
        try await withServer(refusing) { server in
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, grant: .clientCredentials())
            #expect(try await loader.load(replacing: nil).value == "A9")
            #expect(server.requests.count == 2)
        }
    }
}

@Suite("A refresh token that comes alone", .eightAtATime, .timeLimit(.minutes(10)))
struct RescueTests {
    @Test func `a refresh token without a usable access token leaves the valid one in the store`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, #"{"token_type":"Bearer","refresh_token":"RT1"}"#)
        } _: { server in
            let valid = AccessToken(value: "A0", expiration: .now.addingTimeInterval(3000))
            func credential(_ refreshToken: String) -> Credential {
                Credential(
                    accessToken: valid,
                    refreshToken: refreshToken,
                    scope: "read",
                    obtained: Date(timeIntervalSince1970: 1),
                    otherMembers: ["id_token": "I"]
                )
            }
            let store = MemoryCredentialStore(credential("RT0"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await #expect(throws: OAuthError.self) { try await loader.load(replacing: valid) }
            #expect(try await store.credential == credential("RT1"))
        }
    }

    @Test func `a peer's refresh token beside the same access token is not taken for what was saved`() async throws {
        let old = AccessToken(value: "A0")
        let store = LeaseStore(Credential(accessToken: old, refreshToken: "RT0"))
        try await withServer { connection, _ in
            guard connection.number == 1 else { return connection.reply(200, tokens("A2", "RT2")) }
            store.writeAsPeer(Credential(accessToken: old, refreshToken: "RT5"))
            connection.reply(200, #"{"refresh_token":"RT1"}"#)
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: old).value == "A2")
            #expect(server.requests.last?.body.contains("refresh_token=RT5&") == true)
        }
    }
}
