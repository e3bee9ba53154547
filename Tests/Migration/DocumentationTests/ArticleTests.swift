import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Foundation
import Testing

@Suite("The code of the articles does what is said of it")
struct ArticleTests {
    let endpoint = YourEndpoint()
    let keychain = YourKeychain(refreshToken: "first")
    /// A busy machine may need longer than a load's usual deadline.
    let patient = AccessTokenPolicy(loadDeadline: nil)

    @Test(arguments: [("token 2", ["a friend, for token 2"]), ("no token", [])])
    func `a callback caller whose token is rejected sends its request once more`(good: String, friends: [String])
        async throws
    {
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), policy: patient)
        let list = CallbackCode.Friends(tokens: service, server: FriendsServer { $0 == good })
        let shown = try await withCheckedThrowingContinuation { reply in list.load { reply.resume(with: $0) } }
        #expect(shown == friends)
        #expect(endpoint.requests == 2)
    }

    @Test func `a screen that goes away is answered at once`() async {
        let service = AccessTokenService(loader: ControlledLoader())
        let (results, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        _ = CallbackCode.PictureView(tokens: service) { answer.yield($0) }
        let result = await results.first { _ in true }
        #expect(throws: CancellationError.self) { try result?.get() }
    }

    @Test func `both worlds share one load`() async throws {
        let tokens = Tokens(loader: TokenLoader(endpoint: endpoint, keychain: keychain))
        async let legacy = AsyncServiceAdapter(of: tokens.legacyService).token()
        #expect(try await tokens.service.token() == legacy)
        #expect(endpoint.requests == 1)
    }

    @MainActor
    @Test func `a screen on the main actor is given a token there`() async {
        let screen = FriendsScreen(
            loader: TokenLoader(endpoint: YourEndpoint(), keychain: YourKeychain(refreshToken: "first"))
        )
        let token = await withCheckedContinuation { shown in
            screen.show = { result in
                MainActor.assertIsolated()
                shown.resume(returning: try? result.get())
            }
            screen.appear()
        }
        #expect(token?.value == "token 1")
        #expect(token == screen.tokens.currentToken)
    }

    @Test func `a session that the server has ended is refused once, and all callers are told to sign in`() async throws
    {
        let ended = YourEndpoint { $0 == "first" }
        let service = AccessTokenService(loader: TokenLoader(endpoint: ended, keychain: keychain), policy: patient)
        let rotating = AsyncCode.RotatingLoader(endpoint: ended, refreshToken: "first")
        let actor = AsyncAccessTokenService(loader: rotating, policy: patient)
        for (requests, tokens) in [(1, service), (2, actor)] as [(Int, any AsyncAccessTokenProviding)] {
            for _ in 1...3 {
                await #expect(throws: AccessTokenError.signedOut) { try await tokens.token() }
            }
            #expect(ended.requests == requests)
        }
        #expect(keychain.refreshToken == nil)
    }

    @MainActor
    @Test func `three callers of an ended session lead to one sign-in screen, and a login to the next session`() async {
        let session = CallbackSession(endpoint: YourEndpoint { $0 == "first" }, keychain: keychain)
        #expect(session.screen == .content)
        await show(3, in: session)
        #expect(session.screen == .signIn)
        #expect(!session.isSignedIn)

        await signIn(to: session)
        await show(1, in: session)
        #expect(session.screen == .content)
        #expect(session.friends == ["a friend, for token of the login"])
    }

    @MainActor
    @Test(arguments: [("token 2", ["a friend, for token 2"]), ("no token", [])])
    func `a completion of the main actor is called there, with the reply to the next token`(
        good: String,
        friends: [String]
    ) async throws {
        let tokens = AccessTokenService(
            loader: TokenLoader(endpoint: endpoint, keychain: keychain),
            handlerQueue: .main
        )
        let loader = ProfileLoader(tokens: tokens, server: FriendsServer { $0 == good })
        let shown = try await withCheckedThrowingContinuation { reply in
            loader.friends { result in
                MainActor.assertIsolated()
                reply.resume(with: result)
            }
        }
        #expect(shown == friends)
    }

    @MainActor
    @Test func `a login right after a sign-out keeps its credential`() async {
        for _ in 0..<50 {
            let session = CallbackSession(endpoint: endpoint, keychain: keychain)
            session.signOut()
            #expect(!session.isSignedIn)
            await signIn(to: session)
            await show(1, in: session)
            #expect(session.friends == ["a friend, for token of the login"])
            #expect(keychain.refreshToken == "next")
        }
    }

    /// Sends requests at the same moment, and returns when the session has shown all of their results.
    @MainActor
    private func show(_ requests: Int, in session: CallbackSession) async {
        let friends = CallbackCode.Friends(tokens: session.tokens, server: FriendsServer())
        let (results, answer) = AsyncStream.makeStream(of: Result<[String], any Error>.self)
        for _ in 1...requests { friends.load { answer.yield($0) } }
        for await result in results.prefix(requests) { session.show(result) }
    }

    @MainActor
    private func signIn(to session: CallbackSession) async {
        session.signIn(
            with: YourEndpoint.Token(value: "token of the login", expiresAt: .distantFuture, refreshToken: "next")
        )
        while session.screen == .signIn { await Task.yield() }
    }

    @MainActor
    @Test func `a token that the server rejects is replaced by one load`() async throws {
        let model = FriendsModel(
            loader: AsyncCode.RotatingLoader(endpoint: YourEndpoint(), refreshToken: "first")
        )
        model.server = FriendsServer { $0 == "token 2" }
        #expect(try await model.friends() == ["a friend, for token 2"])
        #expect(model.tokens.currentToken?.value == "token 2")
    }

    @Test func `a loader with a refresh token stores its successor, unless the user signed out`() async throws {
        let loader = TokenLoader(endpoint: endpoint, keychain: keychain)
        let service = AccessTokenService(loader: loader, policy: patient)
        #expect(try await service.token().value == "token 1")
        #expect(keychain.refreshToken == "refresh token 1")
        await service.signOut()
        #expect(keychain.refreshToken == nil)

        let actor = AsyncCode.RotatingLoader(endpoint: endpoint, refreshToken: "first")
        let asyncService = AsyncAccessTokenService(loader: actor, policy: patient)
        #expect(try await asyncService.token().value == "token 2")
        await asyncService.signOut()
        await #expect(throws: AccessTokenError.signedOut) { try await actor.load(replacing: nil) }
    }

    @Test func `an app that starts again finds its session, and shows the sign-in screen after a sign-out`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("launch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try #require(URL(string: "https://as.example/token"))
        let session = folder.appendingPathComponent("session")
        let first = await AppSession(tokenURL: url, folder: session)
        #expect(try await !first.isSignedIn())
        let token = AccessToken(value: "first", expiration: .distantFuture)
        try await first.signIn(Credential(accessToken: token, refreshToken: "refresh"))

        let second = await AppSession(tokenURL: url, folder: session)
        #expect(try await second.isSignedIn())
        #expect(try await second.tokens.token() == token)
        try await second.store.update { _ in .remove }
        #expect(try await !first.isSignedIn())
        await #expect(throws: AccessTokenError.signedOut) { try await first.tokens.token() }

        try Data("half".utf8).write(to: session.appendingPathComponent("credential.json"))
        try await first.signIn(Credential(accessToken: token, refreshToken: "refresh"))
        #expect(try await first.tokens.token() == token)
    }

    @Test func `asking whether there is a session ends none that begins meanwhile`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("login-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try #require(URL(string: "https://as.example/token"))
        for number in 0..<20 {
            let session = await AppSession(tokenURL: url, folder: folder.appendingPathComponent("\(number)"))
            let token = AccessToken(value: "first", expiration: .distantFuture)
            async let isSignedIn = session.isSignedIn()
            try await session.signIn(Credential(accessToken: token, refreshToken: "refresh"))
            _ = try await isSignedIn
            #expect(try await session.store.load()?.credential.refreshToken == "refresh")
            #expect(try await session.tokens.token() == token)
        }
    }
}
