import Foundation
import Testing

@testable import AccessTokenOAuth

@Suite("What a loader remembers of a session", .timeLimit(.minutes(2)))
struct SessionMemoryTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    @Test func `a sign-in that returns late takes nothing from the session that it began`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let store = SlowReturnStore(nil)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            store.afterNextUpdate {
                // What a load of the new session does meanwhile when the disk is full.
                loader.memory.withLock {
                    $0.unsaved = .init(credential: Credential(refreshToken: "RT1"), base: 1)
                }
            }
            try await loader.signIn(start)
            #expect(loader.memory.withLock { $0.unsaved?.credential.refreshToken } == "RT1")
        }
    }

    @Test func `a sign-in that returns late does not let the refresh token be sent twice`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = ManualClock()
            let store = SlowReturnStore(nil)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            store.afterNextUpdate {
                let load = Task { try await loader.load(replacing: old) }
                await yieldUntil { clock.pendingTimers == 1 && server.requests.count == 1 }
                clock.advance(by: 30)
                _ = try? await load.value
            }
            try await loader.signIn(start)
            let second = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 1 || server.requests.count == 2 }
            gate.open()
            _ = try await second.value
            #expect(server.requests.map(\.body).filter { $0.contains("refresh_token=RT0") }.count == 1)
        }
    }

    @Test func `a sign-out revokes what was removed, and not an unsaved credential of an older session`() async throws {
        try await withServer { connection, request in
            connection.reply(200, request.line.contains("/token") ? tokens("A1", "RT1") : "")
        } _: { server in
            let store = TroubledStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            // A peer signs in anew.
            try await store.base.update { _ in .replace(Credential(refreshToken: "NEW")) }
            await loader.signOut()
            #expect(try await store.credential == nil)
            let revoked = server.requests.filter { $0.line.contains("/revoke") }.map(\.body)
            #expect(revoked.contains { $0.hasPrefix("token=NEW&") })
        }
    }

    @Test func `a sign-out that returns late neither revokes nor forgets what the next session has`() async throws {
        try await withServer { connection, request in
            connection.reply(200, "")
        } _: { server in
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            store.afterNextUpdate {
                try? await loader.signIn(Credential(refreshToken: "NEW"))
                loader.memory.withLock {
                    $0.unsaved = .init(credential: Credential(refreshToken: "NEW1"), base: 2)
                }
            }
            await loader.signOut()
            #expect(!server.requests.contains { $0.body.hasPrefix("token=NEW1&") })
            #expect(server.requests.contains { $0.body.hasPrefix("token=RT0&") })
            #expect(loader.memory.withLock { $0.unsaved?.credential.refreshToken } == "NEW1")
        }
    }
}
