import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The loader that keeps a credential alive", .takesTurns, .endsHangs)
struct OAuthLoaderTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0", scope: "read")
    private let old = AccessToken(value: "A0")

    private func sent(to server: ScriptedServer) -> [String] {
        server.requests.compactMap { request in
            request.body.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst(14)) }
        }
    }

    @Test func `each load sends what the one before brought, and keeps what the server left as it was`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            var token = old
            for number in 1...3 {
                token = try await loader.load(replacing: token)
                #expect(token.value == "A\(number)")
            }
            #expect(sent(to: server) == ["RT0", "RT1", "RT2"])
            let record = try #require(try await store.load())
            #expect(record.version == 4)
            #expect(record.credential.refreshToken == "RT3")
            #expect(record.credential.scope == "read")
        }
    }

    @Test func `a server that does not rotate is sent the same refresh token again`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)", connection.number == 1 ? nil : ""))
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(start))
            _ = try await loader.load(replacing: try await loader.load(replacing: old))
            #expect(sent(to: server) == ["RT0", "RT0"])
        }
    }

    @Test func `a valid token that another process obtained is adopted, and not the one that is replaced`() async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let clock = ManualClock()
            let endpoint = try server.endpoint(clock: clock)
            func adopted(_ credential: Credential) async throws -> String {
                try await OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(credential))
                    .load(replacing: old).value
            }
            func peer(expiresIn seconds: TimeInterval, obtained: Date? = nil) -> Credential {
                let token = AccessToken(value: "peer", expiration: clock.now.addingTimeInterval(seconds))
                return Credential(accessToken: token, refreshToken: "RT", obtained: obtained)
            }
            #expect(
                try await adopted(Credential(accessToken: AccessToken(value: "peer"), refreshToken: "RT")) == "peer"
            )
            #expect(try await adopted(peer(expiresIn: 31)) == "peer")
            // A token that lives for ten seconds in all is worth to be adopted for five.
            #expect(try await adopted(peer(expiresIn: 6, obtained: clock.now.addingTimeInterval(-4))) == "peer")
            #expect(server.requests.isEmpty)
            #expect(try await adopted(peer(expiresIn: 30)) == "A1")
            #expect(try await adopted(peer(expiresIn: 5, obtained: clock.now.addingTimeInterval(-5))) == "A2")
            // A store may give the replaced token back with another expiration: its value counts.
            let replaced = AccessToken(value: old.value, expiration: clock.now.addingTimeInterval(3600))
            #expect(try await adopted(Credential(accessToken: replaced, refreshToken: "RT0")) == "A3")
        }
    }

    @Test func `without a refresh token the loader's own grant is exchanged, or nobody is signed in`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)"))
        } _: { server in
            let endpoint = try server.endpoint()
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: endpoint, store: store, grant: .clientCredentials())
            let token = try await loader.load(replacing: nil)
            #expect(try await loader.load(replacing: nil) == token)
            #expect(try await loader.load(replacing: token).value == "A2")
            #expect(server.requests.allSatisfy { $0.body.hasPrefix("grant_type=client_credentials&") })
            await #expect(throws: AccessTokenError.signedOut) {
                try await OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore()).load(replacing: nil)
            }
        }
    }

    /// Another process may have stopped inside of the store, beside a token that everybody can use.
    @Test func `takes a valid token that is there when the store has not let it in`() async throws {
        let clock = ManualClock()
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let token = AccessToken(value: "A5", expiration: clock.now + 3600)
        let store = TroubledStore(Credential(accessToken: token, refreshToken: "RT5"))
        let (isWaiting, mayEnter) = (Event(), Event())
        store.goBlind(for: 0) {
            isWaiting.happen()
            await mayEnter.wait()
        }
        let load = Task { try await OAuthLoader(endpoint: endpoint, store: store).load(replacing: old) }
        await isWaiting.wait()
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: endpoint.deadline)
        #expect(try await load.valueInTime == token)
        mayEnter.happen()
    }

    /// A sign-out whose store is away tells by the number whose record it has to remove.
    @Test func `begins a session with a number by a grant, and keeps the number`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, grant: .clientCredentials())
            let first = try await loader.load(replacing: nil)
            let number = try #require(try await store.load()?.credential.session.value)
            _ = try await loader.load(replacing: first)
            let renewed = try await store.load()?.credential
            #expect(renewed?.refreshToken == "RT2" && renewed?.session.value == number)
        }
    }
}
