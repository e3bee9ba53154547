import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("What a process owes its store", .takesTurns, .endsHangs)
struct OwedTests {
    /// An opening of a place that others open as well, such as a file or a row; it goes with its loader.
    private struct Opening: PlacedCredentialStore {
        let base: TroubledStore

        var memoryName: String { "place \(ObjectIdentifier(base))" }
        var takeOverDelay: TimeInterval { base.takeOverDelay }

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
        func reset(evenIfReadable: Bool) async throws { throw TroubledStore.Trouble() }
    }

    /// Stores of an app's own, which nobody knows to be one.
    private struct Value: CredentialStore {
        let base: TroubledStore

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
    }

    private final class Object: CredentialStore {
        private let base: TroubledStore

        init(_ base: TroubledStore) { self.base = base }

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
    }

    enum Kind: CaseIterable {
        case place, value, object
    }

    private func store(_ kind: Kind, _ base: TroubledStore) -> any CredentialStore {
        switch kind {
        case .place: Opening(base: base)
        case .value: Value(base: base)
        case .object: Object(base)
        }
    }

    /// Accounts of which one is kept at a time; only account "a" has a session.
    private func accounts(
        _ kind: Kind,
        _ base: TroubledStore,
        idleLimit: TimeInterval = 60,
        sweeps: ManualClock = ManualClock(),
        _ server: ScriptedServer
    ) throws -> AccessTokenAccounts<String, AsyncAccessTokenService> {
        let endpoint = try server.endpoint(clock: clock)
        return AccessTokenAccounts(idleLimit: idleLimit, most: 1, clock: sweeps) { account in
            let store = self.store(kind, account == "a" ? base : TroubledStore(nil))
            return AsyncAccessTokenService(
                loader: OAuthLoader(endpoint: endpoint, store: store),
                policy: .withoutLoadDeadline
            )
        }
    }

    private let old = AccessToken(value: "A0")
    private var start: Credential { Credential(accessToken: old, refreshToken: "RT0") }
    /// Nothing is paid before a test sets it forward.
    private let clock = ManualClock()

    private func loader(_ server: ScriptedServer, _ store: TroubledStore) throws -> OAuthLoader {
        OAuthLoader(endpoint: try server.endpoint(clock: clock), store: Opening(base: store))
    }

    /// Sets the clock forward, and returns when the process has paid.
    private func pay(_ store: TroubledStore, after seconds: TimeInterval = 1) async {
        let memory = SharedLoaderMemory.of(Opening(base: store))
        await yieldUntil { clock.pendingTimers == 1 }
        clock.advance(by: seconds)
        await yieldUntil { clock.pendingTimers == 0 && memory.withLock { !$0.isOwing } }
    }

    // MARK: Accounts that are let go

    @Test(arguments: Kind.allCases, [60.0, .infinity])
    func `a service that is let go leaves behind what the store did not take`(kind: Kind, idleLimit: TimeInterval)
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            // Nothing but a new load is of use.
            let (base, sweeps) = (TroubledStore(Credential(refreshToken: "RT0")), ManualClock())
            let accounts = try accounts(kind, base, idleLimit: idleLimit, sweeps: sweeps, server)
            // A store of the app's own gets a note first.
            if kind == .place { base.fail(3) } else { base.afterUpdate { base.fail(3) } }
            await #expect(throws: TroubledStore.Trouble()) { try await accounts.service(for: "a").token() }
            // The task of a load that has ended still has its service for a moment.
            await yieldUntil {
                if idleLimit.isFinite { sweeps.advance(by: 30) } else { _ = accounts.service(for: "b") }
                return !accounts.accounts.contains("a")
            }
            #expect(try await accounts.service(for: "a").token().value == "A1")
            #expect(server.requests.count == 1)
            #expect(try await base.refreshToken == "RT1")
        }
    }

    @Test(arguments: Kind.allCases)
    func `an account that signs out while its store is away has no session when the store is back`(kind: Kind)
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let base = TroubledStore(Credential(refreshToken: "RT0"))
            let accounts = try accounts(kind, base, server)
            _ = try await accounts.service(for: "a").token()
            base.goBlind(for: Self.callsOfSignOut)
            await accounts.signOut("a")
            #expect(server.requests.last?.body == "token=RT1&token_type_hint=refresh_token&client_id=app")
            #expect(try await base.refreshToken == "RT1")
            await #expect(throws: AccessTokenError.signedOut) { try await accounts.service(for: "a").token() }
            #expect(try await base.credential == nil)
            #expect(server.requests.count == 2)
        }
    }

    /// A store that keeps tokens only, of an app's own.
    private struct Noteless: CredentialStore {
        let base: NotelessStore

        func load() async throws -> CredentialRecord? { try await base.load() }
        func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
    }

    @Test(arguments: [false, true])
    func `a refresh token that may be spent is known after its service has gone, though its store keeps no notes`(
        isObject: Bool
    ) async throws {
        try await withServer(replying: 200, #"{"x":1}"#) { server in
            let base = NotelessStore(Credential(refreshToken: "RT0"))
            let endpoint = try server.endpoint(clock: clock)
            let accounts = AccessTokenAccounts<String, AsyncAccessTokenService>(
                idleLimit: 60,
                most: 1,
                clock: ManualClock()
            ) { account in
                let own: any CredentialStore = isObject ? base : Noteless(base: base)
                let store = account == "a" ? own : TroubledStore(nil)
                return AsyncAccessTokenService(
                    loader: OAuthLoader(endpoint: endpoint, store: store),
                    policy: .withoutLoadDeadline
                )
            }
            for _ in 1...2 {
                let error = await #expect(throws: OAuthError.self) { try await accounts.service(for: "a").token() }
                #expect(error?.sessionMayBeSpent == true)
                await yieldUntil {
                    _ = accounts.service(for: "b")
                    return !accounts.accounts.contains("a")
                }
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `what a store can never take is looked after ever more seldom, until a sign-in`() async throws {
        try await withServer(replying: 200, #"{"x":1}"#) { server in
            let store = NotelessStore(Credential(refreshToken: "RT0"))
            weak var memory: SharedLoaderMemory?
            do {
                let loader = OAuthLoader(endpoint: try server.endpoint(clock: clock), store: store)
                memory = loader.memory
                await #expect(throws: OAuthError.self) { try await loader.load(replacing: nil) }
            }
            await yieldUntil { clock.pendingTimers == 1 }
            let version = try await store.version
            for pause in [1.0, 2, 4, 8] {
                clock.advance(by: pause)
                await yieldUntil { clock.pendingTimers == 1 }
            }
            // Nothing is written in vain.
            #expect(try await store.version == version)
            clock.advance(by: 3600)
            await yieldUntil { clock.pendingTimers == 1 }
            // Another process signs in.
            _ = try await store.update { _ in .replace(Credential(refreshToken: "NEW")) }
            clock.advance(by: 3600)
            await yieldUntil { memory == nil }
            #expect(clock.pendingTimers == 0)
            #expect(server.requests.count == 1)
        }
    }

    private final class TwoStores: Sendable {
        let loaders: [OAuthLoader]

        init(_ endpoint: TokenEndpoint, _ bases: [TroubledStore]) {
            loaders = bases.map { OAuthLoader(endpoint: endpoint, store: Value(base: $0)) }
        }
    }

    @Test func `an account with two stores of one type pays each of them what that one is owed`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let endpoint = try server.endpoint(clock: clock)
            let bases = ["N0", "M0"].map { TroubledStore(Credential(refreshToken: $0)) }
            let accounts = AccessTokenAccounts<String, TwoStores>(idleLimit: 60, most: 1, clock: ManualClock()) { _ in
                TwoStores(endpoint, bases)
            }
            // A store of the app's own gets a note first.
            bases[1].afterUpdate { bases[1].fail(3) }
            await #expect(throws: TroubledStore.Trouble()) {
                try await accounts.service(for: "a").loaders[1].load(replacing: nil)
            }
            await yieldUntil {
                _ = accounts.service(for: "b")
                return !accounts.accounts.contains("a")
            }
            let loaders = accounts.service(for: "a").loaders
            // The loader of a store that is not told would wait for whoever has left the note.
            try #require(loaders.map(\.memory.isOwing) == [false, true])
            #expect(try await loaders[0].load(replacing: nil).value == "A2")
            #expect(try await loaders[1].load(replacing: nil).value == "A1")
            #expect(server.requests.count == 2)
        }
    }

    /// An account keeps a memory that may outlive its store; the next store is often where that one was.
    @Test func `a memory that outlives its store is not that of another store at the same address`() {
        let base = TroubledStore(nil)
        let kept = SharedLoaderMemory.of(Object(base))
        let stores = (0..<100).map { _ in Object(base) }
        #expect(!stores.contains { SharedLoaderMemory.of($0) === kept })
    }

    // MARK: Paid without a load

    @Test func `a credential is saved by itself when the store is back, and the loader goes then`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(start)
            var loader: OAuthLoader? = try loader(server, store)
            weak let memory = loader?.memory
            store.fail(3)
            await #expect(throws: TroubledStore.Trouble()) { try await loader?.load(replacing: old) }
            loader = nil
            // The store fails once more: then the pause is twice as long.
            store.fail(3)
            let updates = store.updates
            await yieldUntil { clock.pendingTimers == 1 }
            clock.advance(by: 1)
            await yieldUntil { store.updates == updates + 3 && clock.pendingTimers == 1 }
            clock.advance(by: 1)
            #expect(clock.pendingTimers == 1)
            await pay(store)
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
            await yieldUntil { memory == nil }
            #expect(clock.pendingTimers == 0)
        }
    }

    /// After a whole delay without a sign of this process, another one would send the refresh token again.
    @Test func `a credential is offered to its store three times within a take-over delay, however long that is away`()
        async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(start, takeOverDelay: 15)
            // The note is written, and nothing after it.
            store.afterUpdate { store.fail(.max) }
            let loader = try loader(server, store)
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            for pause in [1.0, 2, 4, 5, 5] {
                await yieldUntil { clock.pendingTimers == 1 }
                let updates = store.updates
                clock.advance(by: pause)
                await yieldUntil { store.updates == updates + 3 && clock.pendingTimers == 1 }
            }
            store.fail(0)
            await pay(store, after: 5)
            #expect(try await store.refreshToken == "RT1")
            #expect(server.requests.count == 1)
        }
    }

    /// The sign-in has settled what was owed before; the pause that was planned for that is still running.
    @Test func `a credential does not wait for the long pause of an older debt`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(start, takeOverDelay: 15)
            let loader = try loader(server, store)
            store.fail(.max)
            await loader.signOut()
            for pause in [1.0, 2, 4, 8, 16, 32] {
                await yieldUntil { clock.pendingTimers == 1 }
                let updates = store.updates
                clock.advance(by: pause)
                await yieldUntil { store.updates > updates && clock.pendingTimers == 1 }
            }
            store.fail(0)
            try await loader.signIn(start)
            store.afterUpdate { store.fail(.max) }
            await #expect(throws: TroubledStore.Trouble()) { try await loader.load(replacing: old) }
            store.fail(0)
            await pay(store)
            // The first request was the revocation.
            #expect(try await store.refreshToken == "RT2")
            #expect(clock.pendingTimers == 0)
        }
    }

    /// Another loader of the place, made after the first one has gone, is as the service that comes next.
    @Test(arguments: [0, 2.0])
    func `a refusal that the store did not take is known to the next loader, and is written`(delay: TimeInterval)
        async throws
    {
        try await withServer(replying: 400, #"{"error":"invalid_grant"}"#) { server in
            let store = TroubledStore(start, takeOverDelay: delay)
            if delay > 0 { store.afterUpdate { store.fail(1) } } else { store.fail(1) }
            for _ in 1...2 {
                let loader = try loader(server, store)
                await #expect(throws: OAuthError.refused("invalid_grant")) { try await loader.load(replacing: old) }
                if try await store.credential == nil { break }
            }
            #expect(server.requests.count == 1)
            await pay(store)
            #expect(try await store.credential == nil)
        }
    }

    @Test func `a refusal is written by itself`() async throws {
        try await withServer(replying: 400, #"{"error":"invalid_grant"}"#) { (server) async throws in
            let store = TroubledStore(start)
            store.fail(1)
            await #expect(throws: OAuthError.refused("invalid_grant")) {
                try await self.loader(server, store).load(replacing: old)
            }
            #expect(try await store.credential != nil)
            await pay(store)
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [#"{"x":1}"#, #"{"access_token":"A B","token_type":"Bearer"}"#])
    func `a hold is written by itself, and until then no loader of the place sends the token`(reply: String)
        async throws
    {
        try await withServer(replying: 200, reply) { server in
            let store = TroubledStore(start)
            store.fail(2)
            for _ in 1...2 {
                await #expect(throws: OAuthError.self) { try await self.loader(server, store).load(replacing: old) }
            }
            #expect(server.requests.count == 1)
            await pay(store)
            #expect(try await store.credential?.note?.hold != nil)
            // As another process sees it.
            let other = OAuthLoader(
                endpoint: try server.endpoint(clock: clock),
                store: SharedStore(try await store.credential)
            )
            await #expect(throws: OAuthError.self) { try await other.load(replacing: old) }
            #expect(server.requests.count == 1)
        }
    }

    // MARK: A sign-out while the store is away

    /// Three attempts to remove the record, and a look at it.
    private static let callsOfSignOut = 4

    @Test func `is revoked by what was seen last, and removed when the store is back`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(start)
            let loader = try loader(server, store)
            #expect(try await loader.load(replacing: old).value == "A1")
            store.goBlind(for: Self.callsOfSignOut)
            await loader.signOut()
            #expect(server.requests.last?.body == "token=RT1&token_type_hint=refresh_token&client_id=app")
            #expect(try await store.refreshToken == "RT1")
            await pay(store)
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `is not undone by the next service, which finds nobody signed in`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(start)
            store.goBlind(for: Self.callsOfSignOut)
            await (try loader(server, store)).signOut()
            #expect(server.requests.isEmpty)
            let next = AsyncAccessTokenService(loader: try loader(server, store), policy: .withoutLoadDeadline)
            await #expect(throws: AccessTokenError.signedOut) { try await next.token() }
            #expect(try await store.credential == nil)
            // Nobody could read it before.
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
        }
    }

    /// Each row says which credential is there when the store is back, and whether it stays.
    @Test(
        arguments: [
            (Credential(refreshToken: "RT5", obtained: .distantPast), nil, false),
            (Credential(refreshToken: "RT5", obtained: .distantFuture), nil, true),
            (Credential(refreshToken: "RT5"), nil, false),
            (Credential(refreshToken: "RT5", subject: "bob"), "alice", true),
            (Credential(refreshToken: "RT5", subject: "alice"), "alice", false),
            (Credential(refreshToken: "RT0", obtained: .distantFuture), nil, false),
        ] as [(Credential, String?, Bool)]
    )
    func `takes nothing from a session that began later, or is another user's`(
        present: Credential,
        subject: String?,
        stays: Bool
    ) async throws {
        let store = TroubledStore(Credential(accessToken: old, refreshToken: "RT0", subject: subject))
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let loader = OAuthLoader(endpoint: endpoint, store: Opening(base: store), subject: subject)
        #expect(try await loader.load(replacing: nil) == old)
        store.goBlind(for: Self.callsOfSignOut)
        await loader.signOut()
        try await store.base.update { _ in .replace(present) }
        await pay(store)
        #expect((try await store.refreshToken != nil) == stays)
    }

    /// Its tokens and dates are all new, and it is the session that has ended all the same.
    @Test(arguments: [true, false])
    func `ends the session also if another process has renewed it, and none that began there`(isRenewed: Bool)
        async throws
    {
        try await withServer(replying: 200) { server in
            let store = TroubledStore(nil)
            let loader = try loader(server, store)
            try await loader.signIn(Credential(accessToken: old, refreshToken: "RT0"))
            let signedIn = try #require(try await store.credential)
            store.goBlind(for: Self.callsOfSignOut)
            await loader.signOut()
            let response = TokenResponse(accessToken: AccessToken(value: "A1"), refreshToken: "RT1")
            let renewed = Credential(response, renewing: signedIn, at: .distantFuture)
            let present = isRenewed ? renewed : renewed.inSession(.random())
            // As another process reads it and writes it.
            let coder = StoredRecordCoder(place: "here", seal: nil)
            let data = try coder.data(of: StoredRecord(version: 1, credential: present))
            let read = try #require(try coder.record(from: data).credential)
            try await store.base.update { _ in .replace(read) }
            await pay(store)
            #expect((try await store.refreshToken) == (isRenewed ? nil : "RT1"))
            await yieldUntil { server.requests.count == (isRenewed ? 2 : 1) }
            let revoked = server.requests.compactMap { $0.body.split(separator: "&").first }
            #expect(revoked == (isRenewed ? ["token=RT0", "token=RT1"] : ["token=RT0"]))
        }
    }

    @Test func `a sign-in of this process settles it`() async throws {
        let store = TroubledStore(start)
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let loader = OAuthLoader(endpoint: endpoint, store: Opening(base: store))
        store.goBlind(for: Self.callsOfSignOut)
        await loader.signOut()
        try await loader.signIn(Credential(refreshToken: "NEW"))
        await pay(store)
        #expect(try await store.refreshToken == "NEW")
    }

    // MARK: A sign-out that says what is left

    @Test(arguments: [false, true], [false, true])
    func `says what is left in the store, and what at the server`(storeFails: Bool, serverFails: Bool) async throws {
        try await withServer(replying: serverFails ? 503 : 200) { server in
            let store = TroubledStore(start)
            let unheard = UnheardErrors()
            let loader = OAuthLoader(
                endpoint: try server.endpoint(clock: clock),
                store: store,
                onUnheardError: unheard.hear
            )
            if storeFails { store.fail(3) }
            guard storeFails || serverFails else { return try await loader.endSession() }
            let left = await #expect(throws: UnfinishedSignOut.self) { try await loader.endSession() }
            #expect((left?.store is TroubledStore.Trouble) == storeFails)
            #expect((left?.server as? OAuthError) == (serverFails ? .unavailable(status: 503) : nil))
            #expect((try await store.credential != nil) == storeFails)
            let text = left.map { "\($0)" } ?? ""
            #expect(text.contains("still in the store") == storeFails)
            #expect(text.contains("has not revoked") == serverFails)
            #expect(!text.contains("RT0") && !text.contains("A0"))
            // It is thrown, and not told a second time.
            #expect(unheard.all.isEmpty)
        }
    }

    @Test func `says that what nobody could read was removed and not revoked`() async throws {
        let place = TemporaryFolder()
        let store = FileCredentialStore(folder: place.session)
        try await store.update { _ in .replace(start) }
        try place.write("damaged")
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let left = await #expect(throws: UnfinishedSignOut.self) { try await loader.endSession() }
        #expect(left?.store == nil)
        #expect((left?.server as? CredentialStoreError)?.isUnreadable == true)
        #expect(clock.pendingTimers == 0)
    }
}
