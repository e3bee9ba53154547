import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What a loader remembers of a session", .eightAtATime, .timeLimit(.minutes(10)))
struct SessionMemoryTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    /// A loader whose first exchange has brought `A1` and `RT1`, which the store did not take.
    private func withUnsavedRotation(
        lifetime: Int = 3600,
        _ body: (ScriptedServer, TroubledStore, OAuthLoader, ManualClock) async throws -> Void
    ) async throws {
        try await withServer { connection, request in
            guard request.line.contains("/token") else { return connection.reply(200, "") }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)", lifetime: lifetime))
        } _: { server in
            let clock = ManualClock()
            let store = TroubledStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            try await body(server, store, loader, clock)
        }
    }

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
                await loader.timeOut(replacing: old, at: server, by: clock)
            }
            try await loader.signIn(start)
            let second = Task { try await loader.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 || server.requests.count == 2 }
            gate.open()
            _ = try await second.valueInTime
            #expect(server.requests.map(\.body).filter { $0.contains("refresh_token=RT0") }.count == 1)
        }
    }

    @Test func `a sign-out revokes what was removed, and not an unsaved credential of an older session`() async throws {
        try await withUnsavedRotation { (server, store, loader, _) async throws in
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

    @Test func `a session that a peer has ended does not come back by what was not saved`() async throws {
        try await withUnsavedRotation { (server, store, loader, _) async throws in
            try await store.base.update { _ in .remove }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: old) }
            #expect(try await store.credential == nil)
            #expect(loader.memory.withLock { $0.unsaved == nil })
        }
    }

    @Test func `what was not saved is revoked at sign-out, also after a peer's removal`() async throws {
        try await withUnsavedRotation { (server, store, loader, _) async throws in
            try await store.base.update { _ in .remove }
            await loader.signOut()
            #expect(server.requests.last?.body.hasPrefix("token=RT1&") == true)
        }
    }

    @Test func `an access token that was not saved and has expired meanwhile answers no later load`() async throws {
        try await withUnsavedRotation(lifetime: 60) { (server, store, loader, clock) async throws in
            clock.advance(by: 100)
            #expect(try await loader.load(replacing: old).value == "A2")
            #expect(try await store.refreshToken == "RT2")
        }
    }

    @Test func `a sign-out forgets all but the number of exchanges`() async throws {
        try await withUnsavedRotation { (_, store, loader, _) async throws in
            loader.memory.withLock { $0.refused = "RT" }
            await loader.signOut()
            let memory = loader.memory.withLock { $0 }
            #expect(memory.unsaved == nil && memory.outstanding == nil && memory.refused == nil && memory.ended == nil)
            #expect(memory.exchanges == 1)
        }
    }

    @Test func `a removal that fails once does not make the sign-out revoke what was spent`() async throws {
        try await withUnsavedRotation { (server, store, loader, _) async throws in
            store.fail(1)
            await loader.signOut()
            #expect(try await store.credential == nil)
            #expect(server.requests.last?.body.hasPrefix("token=RT1&") == true)
        }
    }

    @Test func `a sign-out whose removal was reported as failed leaves the session that began meanwhile`() async throws
    {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let store = SlowReturnStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            store.afterNextUpdate {
                try await loader.signIn(Credential(refreshToken: "NEW"))
                throw TroubledStore.Trouble()
            }
            await loader.signOut()
            #expect(try await store.refreshToken == "NEW")
        }
    }

    @Test func `a session that a peer began after a failed removal is not taken for the one that has ended`()
        async throws
    {
        try await withUnsavedRotation { (_, store, loader, _) async throws in
            store.fail(3)
            await loader.signOut()
            try await store.base.update { _ in .replace(Credential(refreshToken: "NEW")) }
            _ = try await loader.load(replacing: nil)
            #expect(try await store.refreshToken?.hasPrefix("RT") == true)
        }
    }

    @Test func `an exchange that has failed is forgotten, also if there was no connection`() async throws {
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore(start))
        for number in 1...20 {
            await #expect(throws: OAuthError.unreachable(code: URLError.Code.cannotConnectToHost.rawValue)) {
                try await loader.load(replacing: old)
            }
            #expect(loader.memory.withLock { $0.outstanding == nil })
            #expect(loader.memory.withLock { $0.exchanges } == number)
        }
    }

    /// Throws before it has looked at the body.
    private struct BusyStore: CredentialStore {
        let credential: Credential
        let updates = Counter()

        func load() async throws -> CredentialRecord? { CredentialRecord(credential: credential, version: 1) }

        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
            updates.count.withLock { $0 += 1 }
            throw CredentialStoreError.busy
        }
    }

    private final class Counter: Sendable {
        let count = Locked(0)
    }

    @Test func `a store that lets nobody in at sign-out is not waited for again, and the credential is revoked`()
        async throws
    {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let store = BusyStore(credential: start)
            let errors = Locked<[any Error]>([])
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store) { error in
                errors.withLock { $0.append(error) }
            }
            await loader.signOut()
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
            #expect(errors.withLock { $0.map { $0 as? CredentialStoreError } } == [.busy])
            #expect(store.updates.count.withLock { $0 } == 1)
        }
    }

    @Test func `a refresh token that was refused is sent again if somebody signs in with it`() async throws {
        try await withServer { connection, _ in
            guard connection.number > 1 else { return connection.reply(400, #"{"error":"invalid_grant"}"#) }
            connection.reply(200, tokens("A", "RT"))
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(start))
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            try await loader.signIn(start)
            #expect(try await loader.load(replacing: old).value == "A")
        }
    }

    @Test func `what a peer writes without a new refresh token is adopted, and not taken for our own`() async throws {
        let store = LeaseStore(start)
        let peer = Credential(accessToken: AccessToken(value: "peer"), refreshToken: "RT0")
        try await withServer { connection, _ in
            store.writeAsPeer(peer)
            connection.reply(200, tokens("A1"))
        } _: { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            #expect(try await loader.load(replacing: old).value == "peer")
            #expect(try await store.credential == peer)
        }
    }
}
