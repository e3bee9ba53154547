import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Signing in to loader and service by one call", .takesTurns, .endsHangs)
struct SignInTests {
    /// A service of either kind, with the calls that differ.
    private struct Subject: Sendable {
        let tokens: any AsyncAccessTokenProviding
        let signIn: @Sendable (OAuthLoader, Credential) async throws -> Void
    }

    private func subject(_ kind: SessionKind, _ loader: any AsyncAccessTokenLoader) -> Subject {
        switch kind {
        case .async:
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            return Subject(tokens: service) { try await $0.signIn($1, to: service) }
        case .callback:
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), policy: .withoutLoadDeadline)
            return Subject(tokens: service) { try await $0.signIn($1, to: service) }
        }
    }

    private func withSubject(
        _ kind: SessionKind,
        _ body: (ScriptedServer, TroubledStore, OAuthLoader, Subject) async throws -> Void
    ) async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(nil)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            try await body(server, store, loader, subject(kind, loader))
        }
    }

    @Test(arguments: SessionKind.allCases, [AccessToken(value: "NEW"), nil])
    func `after a sign-out an access token is used at once, and a refresh token alone is exchanged by the next call`(
        kind: SessionKind,
        token: AccessToken?
    ) async throws {
        try await withSubject(kind) { (server, store, loader, subject) async throws in
            await subject.tokens.signOut()
            await #expect(throws: AccessTokenError.signedOut) { try await subject.tokens.token() }
            try await subject.signIn(loader, Credential(accessToken: token, refreshToken: "RT"))
            #expect(try await subject.tokens.token().value == token?.value ?? "A1")
            #expect(try await store.refreshToken == (token == nil ? "RT1" : "RT"))
            let exchange = "grant_type=refresh_token&refresh_token=RT&client_id=app"
            #expect(server.requests.map(\.body) == (token == nil ? [exchange] : []))
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a login that begins inside of a sign-out waits for its end`(kind: SessionKind) async throws {
        try await withSubject(kind) { (_, store, loader, subject) async throws in
            try await loader.signIn(Credential(refreshToken: "RT0"))
            let login = Locked<Task<Void, any Error>?>(nil)
            // Before the removal.
            store.goBlind(for: 0) {
                let task = Task { try await subject.signIn(loader, Credential(refreshToken: "NEW")) }
                login.withLock { $0 = task }
                for _ in 0..<1000 { await Task.yield() }
            }
            await subject.tokens.signOut()
            try await login.withLock { $0 }?.value
            #expect(try await store.refreshToken == "NEW")
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a sign-out that is under way does not end the session that comes after it`(kind: SessionKind) async throws {
        let (isAsked, mayAnswer) = (Event(), Gate())
        try await withServer { connection, request in
            guard request.line.contains("/token") else { return connection.reply(200, "") }
            isAsked.happen()
            mayAnswer.pass()
            connection.reply(200, tokens("A1", "RT1"))
        } _: { server in
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            let subject = subject(kind, loader)
            let caller = Task { try await subject.tokens.token() }
            await isAsked.wait()
            let signOut = Task { await subject.tokens.signOut() }
            await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
            let token = AccessToken(value: "NEW")
            let signIn = Task {
                try await subject.signIn(loader, Credential(accessToken: token, refreshToken: "NEW-RT"))
            }
            // Without the wait for the sign-out, the sign-in is now at the store, before the removal.
            for _ in 0..<1000 { await Task.yield() }
            mayAnswer.open()
            try await signIn.value
            await signOut.value
            #expect(try await store.refreshToken == "NEW-RT")
            #expect(try await subject.tokens.token() == token)
            let revoked = server.requests.filter { $0.line.contains("/revoke") }.map(\.body)
            #expect(revoked == ["token=RT1&token_type_hint=refresh_token&client_id=app"])
        }
    }

    /// The sign-out waits for the load, and the load would wait for the sign-out.
    @Test(arguments: SessionKind.allCases)
    func `inside of a load it does not wait for a sign-out that waits for that load`(kind: SessionKind) async throws {
        let store = MemoryCredentialStore()
        let endpoint = TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app"))
        let inner = OAuthLoader(endpoint: endpoint, store: store)
        let (isLoading, mayGoOn) = (Event(), Event())
        let login = Locked<(@Sendable () async throws -> Void)?>(nil)
        let loader = LoaderOf {
            isLoading.happen()
            await mayGoOn.wait()
            try await login.withLock { $0 }?()
            return AccessToken(value: "A")
        }
        let tokens: any AsyncAccessTokenProviding
        let credential = Credential(refreshToken: "RT")
        switch kind {
        case .async:
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            login.withLock { $0 = { try await inner.signIn(credential, to: service) } }
            tokens = service
        case .callback:
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), policy: .withoutLoadDeadline)
            login.withLock { $0 = { try await inner.signIn(credential, to: service) } }
            tokens = service
        }
        let caller = Task { try await tokens.token() }
        await isLoading.wait()
        let signOut = Task { await tokens.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        mayGoOn.happen()
        await signOut.value
        #expect(try await store.refreshToken == "RT")
    }

    /// The sign-out comes before the login has stored its credential, or after.
    @Test(arguments: SessionKind.allCases, [true, false])
    func `a sign-out that comes during a login counts, and what the login brought is revoked`(
        kind: SessionKind,
        isBeforeTheStore: Bool
    ) async throws {
        try await withSubject(kind) { (server, store, loader, subject) async throws in
            let old = Credential(accessToken: AccessToken(value: "OLD"), refreshToken: "OLD-RT")
            try await subject.signIn(loader, old)
            let signOut = Locked<Task<Void, Never>?>(nil)
            @Sendable func signsOut() async throws {
                let task = Task { await subject.tokens.signOut() }
                signOut.withLock { $0 = task }
                while (try? await subject.tokens.token()) != nil { await Task.yield() }
                // The login comes to the store behind the removal.
                if isBeforeTheStore { await task.value }
            }
            if isBeforeTheStore { store.goBlind(for: 0, then: signsOut) } else { store.afterUpdate(signsOut) }
            let new = Credential(accessToken: AccessToken(value: "NEW"), refreshToken: "NEW-RT")
            await #expect(throws: AccessTokenError.signedOut) { try await subject.signIn(loader, new) }
            await signOut.withLock { $0 }?.value
            await #expect(throws: AccessTokenError.signedOut) { try await subject.tokens.token() }
            #expect(try await store.refreshToken == nil)
            #expect(server.requests.contains { $0.line.contains("/revoke") && $0.body.hasPrefix("token=NEW-RT&") })
        }
    }

    @Test func `a sign-out in the line after a login by callback code counts`() async throws {
        try await withServer(ScriptedServer.rotating) { server in
            let store = TroubledStore(nil)
            let loader = OAuthLoader(endpoint: try server.endpoint(), store: store)
            let service = AccessTokenService(loader: CallbackLoaderAdapter(of: loader), policy: .withoutLoadDeadline)
            // The login must not end before the next line.
            let isSignedOut = Event()
            store.goBlind(for: 0) { await isSignedOut.wait() }
            let answer = await told { handler in
                loader.signIn(Credential(refreshToken: "RT"), to: service, then: handler)
                service.signOut {}
                isSignedOut.happen()
            }
            #expect(throws: AccessTokenError.signedOut) { try answer.get() }
            await service.signOut()
            #expect(try await store.refreshToken == nil)
        }
    }

    /// The loader ends a session that is ending already, as it may after a refusal.
    @Test(arguments: SessionKind.allCases)
    func `a sign-out inside of the former session's load does not end a login that waits for it`(kind: SessionKind)
        async throws
    {
        let store = MemoryCredentialStore()
        let inner = OAuthLoader(
            endpoint: TokenEndpoint(try Nobody.url, authentication: .none(clientID: "app")),
            store: store
        )
        let (isLoading, mayGoOn) = (Event(), Event())
        let signOut = Locked<(@Sendable () async -> Void)?>(nil)
        let loader = LoaderOf {
            isLoading.happen()
            await mayGoOn.wait()
            await signOut.withLock { $0 }?()
            throw AccessTokenError.signedOut
        }
        let subject = subject(kind, loader)
        signOut.withLock { $0 = { await subject.tokens.signOut() } }
        let caller = Task { try await subject.tokens.token() }
        await isLoading.wait()
        let first = Task { await subject.tokens.signOut() }
        await #expect(throws: AccessTokenError.signedOut) { try await caller.valueInTime }
        let token = AccessToken(value: "NEW")
        let login = Task { try await subject.signIn(inner, Credential(accessToken: token, refreshToken: "RT")) }
        // The login is to wait for the sign-out by now.
        for _ in 0..<1000 { await Task.yield() }
        mayGoOn.happen()
        try await login.value
        await first.value
        #expect(try await subject.tokens.token() == token)
    }

    @Test(arguments: SessionKind.allCases)
    func `a store that fails leaves the service as it was`(kind: SessionKind) async throws {
        try await withSubject(kind) { (_, store, loader, subject) async throws in
            await subject.tokens.signOut()
            store.fail(1)
            await #expect(throws: TroubledStore.Trouble()) {
                try await subject.signIn(loader, Credential(accessToken: AccessToken(value: "A"), refreshToken: "RT"))
            }
            await #expect(throws: AccessTokenError.signedOut) { try await subject.tokens.token() }
        }
    }
}

private struct LoaderOf: AsyncAccessTokenLoader {
    let load: @Sendable () async throws -> AccessToken

    init(_ load: @escaping @Sendable () async throws -> AccessToken) { self.load = load }

    func load(replacing _: AccessToken?) async throws -> AccessToken { try await load() }
}
