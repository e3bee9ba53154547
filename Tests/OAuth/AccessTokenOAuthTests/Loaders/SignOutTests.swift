import AccessTokenContract
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Signing out of an OAuth session", .takesTurns, .endsHangs)
struct SignOutTests {
    private let start = Credential(accessToken: AccessToken(value: "A0"), refreshToken: "RT0")

    @Test func `removes the credential, and revokes its refresh token, or else its access token`() async throws {
        let refresh = Credential(refreshToken: "R+T")
        let access = Credential(accessToken: start.accessToken, refreshToken: nil)
        try await withServer(replying: 200) { server in
            let endpoint = try server.endpoint(authentication: .basic(clientID: "app", secret: "s"))
            // The last one has no place where tokens are revoked.
            let without = TokenEndpoint(try server.url, authentication: .none(clientID: "app"))
            for (credential, endpoint) in [(refresh, endpoint), (access, endpoint), (nil, endpoint), (start, without)] {
                let store = MemoryCredentialStore(credential)
                await OAuthLoader(endpoint: endpoint, store: store).signOut()
                #expect(try await store.load() == nil)
            }
            #expect(server.requests.map(\.line) == Array(repeating: "POST /revoke HTTP/1.1", count: 2))
            #expect(
                server.requests.map(\.body) == [
                    "token=R%2BT&token_type_hint=refresh_token", "token=A0&token_type_hint=access_token",
                ]
            )
            #expect(server.authorizations == ["Basic YXBwOnM=", "Basic YXBwOnM="])
        }
    }

    @Test func `without a refresh token, revokes the access token of every key, also after a failure`() async throws {
        func token(_ value: String) -> KeyedAccessToken {
            KeyedAccessToken(accessToken: AccessToken(value: value), scope: nil, obtained: nil)
        }
        try await withServer { connection, request in
            connection.reply(request.body.contains("token=A0") ? 503 : 200, "")
        } _: { server in
            let keyed: KeyedTokens = ["a": token("A2"), "b": token("A1"), "c": token("A2"), "d": token("A0")]
            let access = Credential(accessToken: start.accessToken, refreshToken: nil).keying(keyed)
            let unheard = UnheardErrors()
            for credential in [access, Credential(refreshToken: nil).keying(keyed), start.keying(keyed)] {
                let store = MemoryCredentialStore(credential)
                await OAuthLoader(
                    endpoint: try server.endpoint(),
                    store: store,
                    key: "a",
                    onUnheardError: unheard.hear
                ).signOut()
            }
            let once = ["A0", "A1", "A2"].map { "token=\($0)&token_type_hint=access_token&client_id=app" }
            let withRefreshToken = "token=RT0&token_type_hint=refresh_token&client_id=app"
            #expect(server.requests.map(\.body) == once + once + [withRefreshToken])
            #expect(unheard.all.map { ($0 as? OAuthError)?.isTransient } == [true, true])
        }
    }

    @Test func `is carried out to its end for a cancelled caller, as are a sign-in, a load and an exchange`()
        async throws
    {
        try await withServer(replying: 200, tokens("A1", "RT1")) { server in
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            func asCancelled<Value: Sendable>(
                _ body: @escaping @Sendable () async throws -> Value
            ) async throws -> Value {
                try await Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return try await body()
                }.value
            }
            try await asCancelled { try await loader.signIn(start) }
            #expect(try await store.refreshToken == "RT0")
            #expect(try await asCancelled { try await loader.load(replacing: start.accessToken) }.value == "A1")
            #expect(try await store.refreshToken == "RT1")
            let response = try await asCancelled { try await server.endpoint().exchange(.refreshToken("RT1")) }
            #expect(response.refreshToken == "RT1")
            try await asCancelled { await loader.signOut() }
            #expect(try await store.load() == nil)
        }
    }

    @Test func `goes on without a server, and says so`() async throws {
        let endpoint = TokenEndpoint(
            try Nobody.url,
            authentication: .none(clientID: "app"),
            revocationURL: try Nobody.url
        )
        let unheard = UnheardErrors()
        let store = MemoryCredentialStore(start)
        await OAuthLoader(endpoint: endpoint, store: store, onUnheardError: unheard.hear).signOut()
        #expect(try await store.load() == nil)
        #expect(unheard.all.map { ($0 as? OAuthError)?.isTransient } == [true])
    }

    @Test(arguments: [1, 2, 3])
    func `with a store that fails tries again, and revokes at least`(failures: Int) async throws {
        try await withServer(replying: 200, tokens("A9", "RT9")) { server in
            let store = TroubledStore(start)
            let unheard = UnheardErrors()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store, onUnheardError: unheard.hear)
            // The successor of what is stored, which the store did not take.
            let successor = Credential(refreshToken: "RT1")
            loader.memory.withLock { $0.unsaved = .init(credential: successor, base: start) }
            store.fail(failures)
            await loader.signOut()
            #expect(server.requests.map(\.body) == ["token=RT1&token_type_hint=refresh_token&client_id=app"])
            #expect(unheard.all.count == (failures == 3 ? 1 : 0))
            // What could not be removed is removed by the next load, and never sent.
            await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
            #expect(try await store.credential == nil)
            #expect(server.requests.count == 1)
            try await loader.signIn(Credential(refreshToken: "NEW"))
            #expect(try await loader.load(replacing: nil).value == "A9")
        }
    }

    @Test func `does not wait again for a store that lets nobody in, and revokes`() async throws {
        try await withServer(replying: 200) { server in
            let store = TroubledStore(start)
            store.becomeBusy()
            let unheard = UnheardErrors()
            // The next attempt of the process to pay its debt is a timer of this clock.
            let endpoint = try server.endpoint(clock: ManualClock())
            let loader = OAuthLoader(endpoint: endpoint, store: store, onUnheardError: unheard.hear)
            await loader.signOut()
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
            #expect(unheard.all.map { $0 as? CredentialStoreError } == [.busy])
            #expect(store.updates == 1)
            // What the store has is not handed out, though nobody can remove it yet.
            await #expect(throws: CredentialStoreError.busy) { try await loader.load(replacing: nil) }
        }
    }

    @Test func `hands nothing out at the end of the next caller's time, beside a store that is slow`() async throws {
        let (store, clock) = (TroubledStore(start), ManualClock())
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        store.fail(3)
        await loader.signOut()
        let (isInside, mayLeave) = (Event(), Event())
        let holder = Task {
            try await store.base.update { _ in
                isInside.happen()
                await mayLeave.wait()
                return .keep
            }
        }
        await isInside.wait()
        let timers = clock.pendingTimers
        let load = Task { try await loader.load(replacing: nil) }
        await yieldUntil { clock.pendingTimers == timers + 1 }
        clock.advance(by: TokenEndpoint.usualDeadline)
        await #expect(throws: OAuthError.timedOut) { try await load.valueInTime }
        mayLeave.happen()
        _ = try await holder.value
    }

    @Test func `removes and revokes also what could not be read at first`() async throws {
        try await withServer(replying: 200) { server in
            let store = TroubledStore(start)
            store.goBlind(for: 2)
            let unheard = UnheardErrors()
            await OAuthLoader(endpoint: try server.endpoint(), store: store, onUnheardError: unheard.hear).signOut()
            #expect(try await store.credential == nil)
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
            #expect(unheard.all.isEmpty)
        }
    }

    @Test func `keeps the session that began while it could not read`() async throws {
        let store = TroubledStore(start)
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        store.goBlind(for: 2) { try await loader.signIn(Credential(refreshToken: "NEW")) }
        await loader.signOut()
        #expect(try await store.refreshToken == "NEW")
    }

    @Test(arguments: [true, false])
    func `removes what cannot be read, which could be readable later`(isDamaged: Bool) async throws {
        let place = TemporaryFolder()
        let store = FileCredentialStore(folder: place.session)
        try await store.update { _ in .replace(start) }
        let text = try place.text
        if isDamaged { try place.write("damaged") } else { try place.setMode("session/credential.json", 0o640) }
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let unheard = UnheardErrors()
        await OAuthLoader(endpoint: endpoint, store: store, onUnheardError: unheard.hear).signOut()
        #expect(unheard.all.map { ($0 as? CredentialStoreError)?.isUnreadable } == [isDamaged])
        #expect(try await store.load() == nil)
        #expect(try place.text != text)
    }

    @Test(arguments: [1, 2])
    func `removes also what can be read again when it would be removed unread`(failures: Int) async throws {
        try await withServer(replying: 200) { server in
            let place = TemporaryFolder()
            let failuresLeft = Locked(0)
            let seal = CredentialSeal {
                $0
            } open: { data in
                let hasKey = failuresLeft.withLock { left in
                    left -= 1
                    return left < 0
                }
                guard hasKey else { throw TroubledStore.Trouble() }
                return data
            }
            let store = FileCredentialStore(folder: place.session, seal: seal)
            try await store.update { _ in .replace(start) }
            failuresLeft.withLock { $0 = failures }
            try await OAuthLoader(endpoint: try server.endpoint(), store: store).endSession()
            #expect(try await store.load() == nil)
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
        }
    }

    @Test func `revokes what is stored, and not what was issued before a peer renewed it`() async throws {
        try await withServer(replying: 200) { server in
            let store = MemoryCredentialStore(Credential(refreshToken: "RT5"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            let former = Credential(refreshToken: "RT1")
            loader.memory.withLock { $0.unsaved = .init(credential: former, base: start) }
            await loader.signOut()
            #expect(server.requests.map(\.body) == ["token=RT5&token_type_hint=refresh_token&client_id=app"])
        }
    }

    @Test func `revokes nothing where another process has signed out before`() async throws {
        try await withServer(replying: 200) { server in
            let store = MemoryCredentialStore()
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            try await loader.signIn(start)
            _ = try await store.update { _ in .remove }
            try await loader.endSession()
            #expect(server.requests.isEmpty)
            #expect(loader.memory.withLock { $0.ended } == nil)
        }
    }

    /// Google answers so when the user has taken the access away before.
    ///
    /// By RFC 7009, section 2.2, a dead token is no error: `invalid_grant` alone may be about a token of another client.
    @Test(
        arguments: [
            (400, #"{"error":"invalid_token"}"#, true), (400, #"{"error":"invalid_grant"}"#, false),
            (400, #"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#, true),
            (400, #"{"error":"invalid_grant","error_description":"Issued to a different client"}"#, false),
            (401, #"{"error":"invalid_token","error_description":"Token expired or revoked"}"#, true),
            (401, #"{"error":"invalid_client"}"#, false), (503, #"{"error":"invalid_token"}"#, false),
            (400, #"{"error":"unsupported_token_type"}"#, false), (400, "", false),
            (
                400,
                #"{"error":"unsupported_token_type","error_description":"A refresh token cannot be revoked"}"#, false
            ),
        ]
    )
    func `has nothing left to revoke where the server has ended the session before`(
        status: Int,
        body: String,
        isOver: Bool
    ) async throws {
        try await withServer(replying: status, body) { server in
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: MemoryCredentialStore(start))
            if isOver {
                try await loader.endSession()
            } else {
                let left = await #expect(throws: UnfinishedSignOut.self) { try await loader.endSession() }
                #expect(left?.server is OAuthError && left?.store == nil)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `takes nothing from the next session with the same tokens`() async throws {
        let store = TroubledStore(start)
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        store.fail(3)
        await loader.signOut()
        try await loader.signIn(start)
        #expect(!loader.memory.isOwing)
        #expect(try await loader.load(replacing: nil) == start.accessToken)
    }

    @Test(arguments: [false, true])
    func `that returns late takes nothing from the session that began meanwhile`(fails: Bool) async throws {
        try await withServer(replying: 200) { server in
            let store = TroubledStore(start)
            // By this clock, the process never comes to pay what it owes.
            let loader = OAuthLoader(endpoint: try server.endpoint(clock: ManualClock()), store: store)
            let unsaved = LoaderMemory.Unsaved(
                credential: Credential(refreshToken: "NEW1"),
                base: Credential(refreshToken: "NEW")
            )
            store.afterUpdate {
                try await loader.signIn(Credential(refreshToken: "NEW"))
                loader.memory.withLock { $0.unsaved = unsaved }
                if fails { throw TroubledStore.Trouble() }
            }
            await loader.signOut()
            #expect(try await store.refreshToken == "NEW")
            #expect(server.requests.map(\.body) == ["token=RT0&token_type_hint=refresh_token&client_id=app"])
            #expect(loader.memory.withLock { $0.unsaved } == unsaved)
        }
    }

    @Test func `a sign-in that returns late takes nothing from the session that it began`() async throws {
        let store = TroubledStore(nil)
        let clock = ManualClock()
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: clock)
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        let unsaved = LoaderMemory.Unsaved(credential: Credential(refreshToken: "RT1"), base: start)
        store.afterUpdate { loader.memory.withLock { $0.unsaved = unsaved } }
        try await loader.signIn(start)
        #expect(loader.memory.withLock { $0.unsaved } == unsaved)
    }

    @Test func `a sign-in that returns late is not undone by a load, which looks before that`() async throws {
        let store = TroubledStore(nil)
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"), clock: ManualClock())
        let loader = OAuthLoader(endpoint: endpoint, store: store)
        // Nobody can read which session ends: a record without a date is taken for it.
        store.goBlind(for: 4)
        await loader.signOut()
        store.afterUpdate { [start] in
            let token = try await loader.load(replacing: nil)
            #expect(token == start.accessToken)
        }
        try await loader.signIn(start)
        #expect(try await store.refreshToken == "RT0")
        #expect(!loader.memory.isOwing)
    }

    @Test func `a sign-in with a token that was refused before lets a load send it, which looks at once`() async throws
    {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(nil)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            loader.memory.withLock { $0.refused = "RT0" }
            store.afterUpdate { [start] in _ = try await loader.load(replacing: start.accessToken) }
            try await loader.signIn(start)
            #expect(try await store.refreshToken == "RT1")
        }
    }
}
