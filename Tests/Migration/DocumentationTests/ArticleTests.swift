import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("The code of the articles does what is said of it")
struct ArticleTests {
    let endpoint = YourEndpoint()
    let keychain = YourKeychain(refreshToken: "first")
    /// A busy machine may need longer than a load's usual deadline.
    let patient = AccessTokenPolicy(loadDeadline: nil)

    /// Which tokens the server takes.
    enum Server: CaseIterable {
        case takesSecondToken, takesNone

        var server: FriendsServer { FriendsServer { $0 == "token 2" && self == .takesSecondToken } }
        /// What a request is shown that is sent once more after a rejection.
        var shown: [String] { self == .takesSecondToken ? ["a friend, for token 2"] : [] }
    }

    @Test(arguments: Server.allCases)
    func `a callback caller whose token is rejected sends its request once more`(_ kind: Server) async throws {
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), policy: patient)
        let list = CallbackCode.Friends(tokens: service, server: kind.server)
        let shown = try await withCheckedThrowingContinuation { reply in list.load { reply.resume(with: $0) } }
        #expect(shown == kind.shown)
        #expect(endpoint.requests == 2)
    }

    @Test func `a handler that blocks the handler queue stops no decision of the queue service`() async {
        let (isRunning, mayGoOn, first) = (Event(), DispatchSemaphore(value: 0), AccessToken(value: "first"))
        let loader = ControlledLoader()
        let service = AccessTokenService(loader: loader, policy: patient)
        let retrieve: (@escaping AccessTokenHandler) -> Void = { _ = service.retrieveToken(then: $0) }
        retrieve { _ in
            isRunning.happen()
            mayGoOn.wait()
        }
        await loader.started(1)?.answer(.success(first))
        await isRunning.wait()
        service.invalidate(first)
        retrieve { _ in }
        #expect(await loader.started(2) != nil, "the rejection counts, and the next load begins")
        mayGoOn.signal()
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

    // MARK: A session that the server has ended

    private let ended = YourEndpoint { $0 == "first" }

    private var endedService: AccessTokenService {
        AccessTokenService(loader: TokenLoader(endpoint: ended, keychain: keychain), policy: patient)
    }

    private var endedActor: AsyncAccessTokenService {
        let loader = AsyncCode.RotatingLoader(endpoint: ended, refreshToken: "first")
        return AsyncAccessTokenService(loader: loader, policy: patient)
    }

    @Test func `callers of the queue service are told to sign in when the session has ended`() async {
        await #expect(throws: AccessTokenError.signedOut) { try await endedService.token() }
    }

    @Test func `callers of the actor are told to sign in when the session has ended`() async {
        await #expect(throws: AccessTokenError.signedOut) { try await endedActor.token() }
    }

    @Test func `the queue service sends a refused refresh token once`() async {
        let service = endedService
        for _ in 1...3 { _ = try? await service.token() }
        #expect(ended.requests == 1)
    }

    @Test func `the actor sends a refused refresh token once`() async {
        let service = endedActor
        for _ in 1...3 { _ = try? await service.token() }
        #expect(ended.requests == 1)
    }

    @Test func `a refused refresh token is removed from the keychain`() async {
        _ = try? await endedService.token()
        #expect(keychain.refreshToken == nil)
    }

    @MainActor
    @Test func `three callers of an ended session lead to one sign-in screen`() async {
        let session = CallbackSession(endpoint: ended, keychain: keychain)
        #expect(session.screen == .content)
        await show(3, in: session)
        #expect(session.screen == .signIn)
        #expect(!session.isSignedIn)
    }

    @MainActor
    @Test func `a login after an ended session leads to the next session`() async {
        let session = CallbackSession(endpoint: ended, keychain: keychain)
        await show(1, in: session)
        await signIn(to: session)
        await show(1, in: session)
        #expect(session.screen == .content)
        #expect(session.friends == ["a friend, for token of the login"])
    }

    @MainActor
    @Test(arguments: Server.allCases)
    func `a completion of the main actor has the reply to the next token`(_ kind: Server) async throws {
        let loader = ProfileLoader(tokens: serviceOnMainQueue, server: kind.server)
        let shown = try await withCheckedThrowingContinuation { reply in
            loader.friends { reply.resume(with: $0) }
        }
        #expect(shown == kind.shown)
    }

    @MainActor
    @Test func `a completion of the main actor is called there`() async {
        let loader = ProfileLoader(tokens: serviceOnMainQueue, server: FriendsServer())
        await withCheckedContinuation { isCalled in
            loader.friends { _ in
                MainActor.assertIsolated()
                isCalled.resume()
            }
        }
    }

    private var serviceOnMainQueue: AccessTokenService {
        AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), handlerQueue: .main)
    }

    @MainActor
    @Test func `a session that is signed out has no credential at once`() {
        let session = CallbackSession(endpoint: endpoint, keychain: keychain)
        session.signOut()
        #expect(!session.isSignedIn)
    }

    /// Fifty times: the sign-out and the login would have to meet.
    @MainActor
    @Test func `a login right after a sign-out keeps its credential`() async throws {
        for _ in 0..<50 {
            let session = CallbackSession(endpoint: endpoint, keychain: keychain)
            session.signOut()
            await signIn(to: session)
            await show(1, in: session)
            try #require(keychain.refreshToken == "next")
        }
    }

    @MainActor
    @Test func `a reply that comes late for the former user is not shown to the next one`() async {
        let session = CallbackSession(endpoint: endpoint, keychain: keychain)
        let sessionEpoch = session.sessionEpoch
        session.signOut()
        await signIn(to: session)
        session.show(.success(["a friend of the former user"]), of: sessionEpoch)
        #expect(session.friends == [])
        session.show(.failure(AccessTokenError.signedOut), of: sessionEpoch)
        #expect(session.screen == .content)
    }

    @MainActor
    @Test func `what was shown to a user whose session the server ended is not shown to the next one`() async {
        let session = CallbackSession(endpoint: endpoint, keychain: keychain)
        session.show(.failure(AccessTokenError.signedOut), of: session.sessionEpoch)
        session.show(.success(["a friend of the former user"]), of: session.sessionEpoch)
        await signIn(to: session)
        #expect(session.friends == [])
    }

    @MainActor
    @Test func `a call that fails late for the former user does not sign out the next one`() async {
        let screens = Screens()
        await screens.perform {
            throw AccessTokenError.signedOut
        } show: { () in
        }
        #expect(screens.screen == .signIn)
        for late in [AccessTokenError.signedOut, .loadTimedOut] {
            await screens.perform {
                screens.showContent()
                throw late
            } show: { () in
            }
            #expect(screens.screen == .content)
            #expect(screens.message == nil)
        }
    }

    @MainActor
    @Test func `what comes late for the former user is shown neither to the next one, nor after a sign-out`() async {
        let screens = Screens()
        let shown = Locked<[String]>([])
        await screens.perform {
            "friends"
        } show: { friends in
            shown.withLock { $0.append(friends) }
        }
        for change in [screens.showSignIn, screens.showContent] {
            await screens.perform {
                change()
                return "friends of the former user"
            } show: { friends in
                shown.withLock { $0.append(friends) }
            }
        }
        screens.showSignIn()
        await screens.perform {
            screens.showSignIn()
            throw AccessTokenError.loadTimedOut
        } show: { () in
        }
        #expect(shown.withLock { $0 } == ["friends"])
        #expect(screens.message == nil)
    }

    @MainActor
    @Test func `the last of sign-outs and logins that wait for one another counts`() async {
        let session = CallbackSession(endpoint: endpoint, keychain: keychain)
        func login(_ refreshToken: String) {
            let token = YourEndpoint.Token(value: "T", expiresAt: .distantFuture, refreshToken: refreshToken)
            session.signIn(with: token)
        }
        /// Until all that waits for sign-outs has run on the main queue.
        func settle() async {
            await withCheckedContinuation { done in
                session.tokens.signOut { DispatchQueue.main.async { done.resume() } }
            }
        }
        session.signOut()
        login("first")
        session.signOut()
        await settle()
        #expect(keychain.refreshToken == nil && session.screen == .signIn)
        session.signOut()
        login("first")
        login("second")
        await yieldUntil { session.screen == .content }
        #expect(keychain.refreshToken == "second")
    }

    /// Whose session can be renewed, too.
    @Test func `an async app's logins and sign-outs count in the order of the calls`() async throws {
        let sent = Locked<[String]>([])
        let endpoint = YourEndpoint { refreshToken in
            sent.withLock { $0.append(refreshToken) }
            return false
        }
        let session = await AsyncCode.LoginSession(
            loader: AsyncCode.RotatingLoader(endpoint: endpoint, refreshToken: nil)
        )
        let login = YourEndpoint.Token(value: "login", expiresAt: .distantFuture, refreshToken: "of the login")
        for isSignedInAtLast in [true, false] {
            let calls = await MainActor.run {
                let (signOut, signIn) = ({ await session.signOut() }, { await session.signIn(with: login) })
                let steps = isSignedInAtLast ? [signIn, signOut, signIn] : [signIn, signOut]
                return steps.map { step in Task { await step() } }
            }
            for call in calls { await call.value }
            guard isSignedInAtLast else { continue }
            #expect(try await session.tokens.token().value == "login")
            await session.tokens.invalidate(AccessToken(value: "login"))
            #expect(try await session.tokens.token().value == "token 1")
        }
        #expect(sent.withLock { $0 } == ["of the login"])
        await #expect(throws: AccessTokenError.signedOut) { try await session.tokens.token() }
    }

    /// Sends requests at the same moment, and returns when the session has shown all of their results.
    @MainActor
    private func show(_ requests: Int, in session: CallbackSession) async {
        let friends = CallbackCode.Friends(tokens: session.tokens, server: FriendsServer())
        let (results, answer) = AsyncStream.makeStream(of: Result<[String], any Error>.self)
        for _ in 1...requests { friends.load { answer.yield($0) } }
        let sessionEpoch = session.sessionEpoch
        for await result in results.prefix(requests) { session.show(result, of: sessionEpoch) }
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

    @Test func `a callback loader stores the successor of its refresh token`() async throws {
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), policy: patient)
        _ = try await service.token()
        #expect(keychain.refreshToken == "refresh token 1")
    }

    @Test func `a callback loader forgets the refresh token at a sign-out`() async throws {
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), policy: patient)
        _ = try await service.token()
        await service.signOut()
        #expect(keychain.refreshToken == nil)
    }

    @Test func `an async loader sends the successor of its refresh token next`() async throws {
        let sent = Locked<[String]>([])
        let rotating = YourEndpoint { refreshToken in
            sent.withLock { $0.append(refreshToken) }
            return false
        }
        let loader = AsyncCode.RotatingLoader(endpoint: rotating, refreshToken: "first")
        _ = try await loader.load(replacing: nil)
        _ = try await loader.load(replacing: nil)
        #expect(sent.withLock(\.self) == ["first", "refresh token 1"])
    }

    @Test func `loaders keep their refresh token where the server sends no new one`() async throws {
        let sent = Locked<[String]>([])
        let endpoint = YourEndpoint(rotates: false) { refreshToken in
            sent.withLock { $0.append(refreshToken) }
            return false
        }
        let service = AccessTokenService(loader: TokenLoader(endpoint: endpoint, keychain: keychain), policy: patient)
        let actor = AsyncAccessTokenService(
            loader: AsyncCode.RotatingLoader(endpoint: endpoint, refreshToken: "first"),
            policy: patient
        )
        for _ in 1...2 {
            service.invalidate(try await service.token())
            await actor.invalidate(try await actor.token())
        }
        #expect(sent.withLock(\.self) == ["first", "first", "first", "first"])
    }

    @Test func `an async loader forgets the refresh token at a sign-out`() async throws {
        let loader = AsyncCode.RotatingLoader(endpoint: endpoint, refreshToken: "first")
        let service = AsyncAccessTokenService(loader: loader, policy: patient)
        _ = try await service.token()
        await service.signOut()
        await #expect(throws: AccessTokenError.signedOut) { try await loader.load(replacing: nil) }
    }

    // MARK: An app that starts again

    private static let stored = AccessToken(value: "first", expiration: .distantFuture)

    /// Calls `body` with the URL of a token endpoint, and the folder of a session, which is removed at the end.
    private func withSessionFolder(_ body: (_ url: URL, _ session: URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("launch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try #require(URL(string: "https://as.example/token"))
        try await body(url, folder.appendingPathComponent("session"))
    }

    private func signIn(to app: AppSession) async throws {
        try await app.signIn(Credential(accessToken: Self.stored, refreshToken: "refresh"))
    }

    @Test func `an app that starts for the first time has no session`() async throws {
        try await withSessionFolder { url, session in
            let app = await AppSession(tokenURL: url, folder: session)
            let isSignedIn = try await app.isSignedIn()
            #expect(!isSignedIn)
        }
    }

    @Test func `an app that starts again finds its session`() async throws {
        try await withSessionFolder { url, session in
            try await signIn(to: AppSession(tokenURL: url, folder: session))
            let again = await AppSession(tokenURL: url, folder: session)
            #expect(try await again.isSignedIn())
            #expect(try await again.tokens.token() == Self.stored)
        }
    }

    @Test func `an app finds out that another process has ended its session`() async throws {
        try await withSessionFolder { url, session in
            let app = await AppSession(tokenURL: url, folder: session)
            try await signIn(to: app)
            try await AppSession(tokenURL: url, folder: session).store.update { _ in .remove }
            #expect(try await !app.isSignedIn())
            await #expect(throws: AccessTokenError.signedOut) { try await app.tokens.token() }
        }
    }

    @Test func `a login replaces a credential that cannot be read`() async throws {
        try await withSessionFolder { url, session in
            let app = await AppSession(tokenURL: url, folder: session)
            try await signIn(to: app)
            try Data("half".utf8).write(to: session.appendingPathComponent("credential.json"))
            try await signIn(to: app)
            #expect(try await app.tokens.token() == Self.stored)
        }
    }

    @Test func `an app takes the tokens of its users over once, and undoes neither a renewal nor a sign-out`()
        async throws
    {
        try await withSessionFolder { url, session in
            let kept = Locked<Credential?>(Credential(accessToken: Self.stored, refreshToken: "old"))
            func launch() async throws -> AppSession {
                let app = await AppSession(tokenURL: url, folder: session)
                if let old = kept.withLock({ $0 }) { try await app.takeOver(old) { kept.withLock { $0 = nil } } }
                return app
            }
            let app = try await launch()
            #expect(try await app.tokens.token() == Self.stored)
            try await app.store.update { _ in .replace(Credential(refreshToken: "renewed")) }
            // As if the app had been ended before it removed the old tokens.
            kept.withLock { $0 = Credential(accessToken: Self.stored, refreshToken: "old") }
            let again = try await launch()
            #expect(try await again.store.load()?.credential.refreshToken == "renewed")
            await again.tokens.signOut()
            let isSignedIn = try await launch().isSignedIn()
            #expect(!isSignedIn)
        }
    }

    /// Logs in, and calls the next line of the same turn.
    @MainActor
    private static func login(of app: CallbackAppSession, then nextLine: () -> Void) async throws {
        try await withCheckedThrowingContinuation { answer in
            app.signIn(Credential(accessToken: Self.stored, refreshToken: "refresh")) { answer.resume(with: $0) }
            nextLine()
        }
    }

    @MainActor
    @Test func `a sign-out in the line after a login counts for callback code`() async throws {
        try await withSessionFolder { url, session in
            let app = CallbackAppSession(tokenURL: url, folder: session)
            await #expect(throws: AccessTokenError.signedOut) {
                try await Self.login(of: app) { app.tokens.signOut {} }
            }
            let record = try await app.store.load()
            #expect(record == nil)
        }
    }

    @MainActor
    @Test func `a login of callback code replaces a credential that cannot be read`() async throws {
        try await withSessionFolder { url, session in
            let app = CallbackAppSession(tokenURL: url, folder: session)
            for _ in 1...2 {
                try await Self.login(of: app) {}
                #expect(try await app.store.load()?.credential.refreshToken == "refresh")
                try Data("half".utf8).write(to: session.appendingPathComponent("credential.json"))
            }
        }
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
            try #require(try await session.store.load()?.credential.refreshToken == "refresh")
            try #require(try await session.tokens.token() == token)
        }
    }
}
