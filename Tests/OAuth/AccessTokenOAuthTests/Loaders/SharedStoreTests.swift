import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Two loaders of one store", .eightAtATime, .timeLimit(.minutes(10)))
struct SharedStoreTests {
    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    private func sent(_ server: ScriptedServer) -> [String] {
        server.requests.filter { $0.line.contains("/token") }.map { $0.body.components(separatedBy: "&")[1] }
    }

    @Test func `what one could not save is saved by the other, and nothing is sent twice`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let store = TroubledStore(start)
            let endpoint = try server.endpoint()
            let (first, second) = (
                OAuthLoader(endpoint: endpoint, store: store), OAuthLoader(endpoint: endpoint, store: store)
            )
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await first.load(replacing: old) }
            #expect(try await second.load(replacing: old).value == "A1")
            #expect(sent(server) == ["refresh_token=RT0"])
            #expect(try await store.refreshToken == "RT1")
        }
    }

    @Test func `what one has sent is waited for by the other`() async throws {
        let gate = Gate()
        try await withServer { connection, _ in
            if connection.number == 1 { gate.pass() }
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)"))
        } _: { server in
            let clock = ManualClock()
            let store = MemoryCredentialStore(start)
            let endpoint = try server.endpoint(clock: clock)
            let (first, second) = (
                OAuthLoader(endpoint: endpoint, store: store), OAuthLoader(endpoint: endpoint, store: store)
            )
            await first.timeOut(replacing: old, at: server, by: clock)
            let next = Task { try await second.load(replacing: old) }
            await yieldUntil { clock.pendingTimers == 2 || server.requests.count == 2 }
            gate.open()
            #expect(try await next.valueInTime.value == "A1")
            #expect(sent(server) == ["refresh_token=RT0"])
        }
    }

    @Test func `loaders of different stores know nothing of each other, nor do those of a store that is gone`() throws {
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let (store, other) = (MemoryCredentialStore(), MemoryCredentialStore())
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        loader.memory.withLock { $0.refused = "RT" }
        #expect(OAuthLoader(endpoint: endpoint, store: store).memory === loader.memory)
        #expect(OAuthLoader(endpoint: endpoint, store: other).memory !== loader.memory)
        // One after the other, many of them at one address.
        for _ in 0..<100 {
            let short = OAuthLoader(endpoint: endpoint, store: MemoryCredentialStore())
            #expect(short.memory.withLock { $0.refused } == nil)
            short.memory.withLock { $0.refused = "RT" }
        }
        struct Value: CredentialStore {
            func load() async throws -> CredentialRecord? { nil }
            func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { nil }
        }
        let memories = (0..<100).map { _ in OAuthLoader(endpoint: endpoint, store: Value()).memory }
        #expect(Set(memories.map(ObjectIdentifier.init)).count == memories.count)
    }

    @Test func `stores whose loaders are gone leave nothing behind`() {
        let endpoint = TokenEndpoint(URL(filePath: "/"), authentication: .none(clientID: "app"))
        let stores = (0..<1000).map { _ in MemoryCredentialStore() }
        for store in stores { _ = OAuthLoader(endpoint: endpoint, store: store) }
        // Other tests have loaders at the same time, and not hundreds.
        #expect(SharedLoaderMemory.count < 500)
    }

    @Test(arguments: [1, 2])
    func `a removal that fails at sign-out is tried again`(failures: Int) async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let store = TroubledStore(start)
            store.fail(failures)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store) { _ in Issue.record("unheard") }
            await loader.signOut()
            #expect(try await store.credential == nil)
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
        }
    }

    @Test func `what could not be removed at sign-out is removed by the next load, and never sent`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let store = TroubledStore(start)
            store.fail(3)
            let errors = Locked(0)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store) { _ in errors.withLock { $0 += 1 } }
            await loader.signOut()
            #expect(try await store.credential == start)
            #expect(errors.withLock { $0 } == 1)
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            #expect(try await store.credential == nil)
            #expect(server.requests.allSatisfy { $0.line.contains("/revoke") })
        }
    }

    @Test func `a sign-in after a removal that failed begins a session that lives`() async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A9", "RT9"))
        } _: { server in
            let store = TroubledStore(start)
            store.fail(3)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            await loader.signOut()
            try await loader.signIn(Credential(refreshToken: "NEW"))
            #expect(try await loader.load(replacing: nil).value == "A9")
            #expect(sent(server) == ["refresh_token=NEW"])
        }
    }
}
