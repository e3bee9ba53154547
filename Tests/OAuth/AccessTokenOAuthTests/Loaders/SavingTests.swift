import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What the server issued and the store did not take", .takesTurns, .endsHangs)
struct SavingTests {
    private let old = AccessToken(value: "A0")
    private let full = CredentialStoreError.unavailable(at: "disk", "posix_fallocate: No space left (errno 28)")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }

    /// A store, and two loaders of it.
    private func withRotation(
        takeOverDelay: TimeInterval = 0,
        lifetime: Int = 3600,
        _ body: (ScriptedServer, TroubledStore, OAuthLoader, OAuthLoader) async throws -> Void
    ) async throws {
        try await withServer { connection, _ in
            connection.reply(200, tokens("A\(connection.number)", "RT\(connection.number)", lifetime: lifetime))
        } _: { server in
            let store = TroubledStore(start, takeOverDelay: takeOverDelay)
            let endpoint = try server.endpoint()
            let loaders = (0..<2).map { _ in OAuthLoader(endpoint: endpoint, store: store) }
            try await body(server, store, loaders[0], loaders[1])
        }
    }

    /// The third failure is the caller's: the next load of any loader saves what it finds in memory.
    @Test(arguments: [(1, 0), (2, 3600), (3, 3600)])
    func `is saved again and not exchanged again, and handed out only then, also if it has expired on arrival`(
        failures: Int,
        lifetime: Int
    ) async throws {
        try await withRotation(lifetime: lifetime) { (server, store, loader, other) async throws in
            store.fail(failures)
            if failures == 3 {
                await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
                #expect(try await store.credential == start)
            }
            #expect(try await (failures == 3 ? other : loader).load(replacing: old).value == "A1")
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `was taken after all when the store only said that it failed`() async throws {
        try await withRotation { (server, store, loader, _) async throws in
            store.afterUpdate { throw TroubledStore.Trouble() }
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.version == 2)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `is never sent for if the store cannot save even the note of it`() async throws {
        try await withRotation(takeOverDelay: 2) { (server, store, loader, _) async throws in
            store.fail(1)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            #expect(server.requests.isEmpty)
            #expect(try await loader.load(replacing: old).value == "A1")
            #expect(try await store.credential?.note == nil)
        }
    }

    @Test(arguments: [0, 2] as [TimeInterval])
    func `is never sent for without room for it`(takeOverDelay: TimeInterval) async throws {
        try await withRotation(takeOverDelay: takeOverDelay) { (server, store, loader, _) async throws in
            store.obstruct(by: full)
            for _ in 1...2 { await #expect(throws: full) { try await loader.load(replacing: old) } }
            #expect(server.requests.isEmpty)
            // No other process is to think that this one may have sent the token.
            #expect(try await store.credential == start)
            store.obstruct(by: nil)
            #expect(try await loader.load(replacing: old).value == "A1")
        }
    }

    @Test func `is saved, and the session ended, also without room for another exchange`() async throws {
        try await withRotation { (server, store, loader, other) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            store.obstruct(by: full)
            #expect(try await other.load(replacing: old).value == "A1")
            await loader.signOut()
            #expect(try await store.credential == nil)
        }
    }

    @Test func `is not sent for by a grant without room for it`() async throws {
        try await withServer(replying: 200, tokens("A1")) { server in
            let store = TroubledStore(nil)
            store.obstruct(by: full)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, grant: .clientCredentials())
            await #expect(throws: full) { try await loader.load(replacing: nil) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `is revoked, and does not come back, when a peer has ended the session`() async throws {
        try await withRotation { (server, store, loader, _) async throws in
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            try await store.base.update { _ in .remove }
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: old) }
            #expect(server.requests.last?.body.hasPrefix("token=RT1&") == true)
            #expect(try await store.credential == nil)
        }
    }

    @Test func `a refusal that cannot be written down is told, and the token is not sent again`() async throws {
        try await withServer(replying: 400, #"{"error":"invalid_grant"}"#) { server in
            let store = TroubledStore(start)
            let unheard = UnheardErrors()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, onUnheardError: unheard.hear)
            store.fail(1)
            for _ in 1...2 {
                await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            }
            #expect(unheard.all.map { $0 is TroubledStore.Trouble } == [true])
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 1)
            // Signing in with it makes it forgotten.
            try await loader.signIn(start)
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
            #expect(server.requests.count == 2)
        }
    }

    @Test func `the reply that was lost before a refusal is told`() async throws {
        try await withServer { connection, _ in
            guard connection.number > 1 else { return connection.reply(504, "") }
            connection.reply(400, #"{"error":"invalid_grant"}"#)
        } _: { server in
            let unheard = UnheardErrors()
            let store = MemoryCredentialStore(start)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, onUnheardError: unheard.hear)
            let retrying = RetryingLoader(loader, clock: InstantClock())
            await #expect(throws: OAuthError.refused("invalid_grant")) { try await retrying.load(replacing: old) }
            #expect(unheard.all.map { $0 as? OAuthError } == [.unavailable(status: 504)])
        }
    }

    @Test func `a store that is busy is looked at once more, and nothing is sent`() async throws {
        try await withRotation { (server, store, loader, _) async throws in
            store.becomeBusy()
            #expect(try await loader.load(replacing: AccessToken(value: "older")) == old)
            await #expect(throws: CredentialStoreError.busy) { try await loader.load(replacing: old) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `loaders share a memory by object or by place, and none by value or after their end`() throws {
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        func memory(_ store: any CredentialStore) -> SharedLoaderMemory {
            OAuthLoader(endpoint: endpoint, store: store).memory
        }
        struct Value: CredentialStore {
            func load() async throws -> CredentialRecord? { nil }
            func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { nil }
        }
        let (store, place) = (MemoryCredentialStore(), TemporaryFolder())
        let folder = memory(FileCredentialStore(folder: place.session))
        #expect(memory(FileCredentialStore(folder: place.session)) === folder)
        #expect(memory(FileCredentialStore(folder: place.url)) !== folder)
        // The folder is not there yet; a link leads to the one above it.
        let link = place.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place.url)
        #expect(memory(FileCredentialStore(folder: link.appending(path: "session/"))) === folder)
        let kept = memory(store)
        #expect(memory(store) === kept)
        #expect(memory(MemoryCredentialStore()) !== kept)
        let values = (0..<100).map { _ in memory(Value()) }
        #expect(Set(values.map(ObjectIdentifier.init)).count == values.count)
        // One after the other, many of them at one address.
        for _ in 0..<100 {
            let short = memory(MemoryCredentialStore())
            #expect(short.withLock { $0.refused } == nil)
            short.withLock { $0.refused = "RT" }
        }
        let stores = (0..<1000).map { _ in MemoryCredentialStore() }
        for store in stores { _ = memory(store) }
        // Other tests have loaders at the same time, and not hundreds.
        #expect(SharedLoaderMemory.count < 500)
    }
}
