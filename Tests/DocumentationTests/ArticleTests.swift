import AccessTokenAdapters
import AccessTokenContract
import Dispatch
import Testing

@Suite("The code of the articles does what is said of it")
struct ArticleTests {
    let endpoint = YourEndpoint()

    @Test func `a callback caller whose token is rejected repeats its request once`() async throws {
        let service = AccessTokenService(loader: CallbackExample.TokenLoader(endpoint: endpoint))
        let friends = CallbackCode.Friends(tokens: service, server: FriendsServer { $0 == "token 2" })
        let reply = try await withCheckedThrowingContinuation { reply in
            friends.load { reply.resume(with: $0) }
        }
        #expect(reply == ["a friend, for token 2"])
        #expect(endpoint.requests == 2)
    }

    @Test func `a callback caller whose token is rejected twice gives up`() async throws {
        let service = AccessTokenService(loader: CallbackExample.TokenLoader(endpoint: endpoint))
        let friends = CallbackCode.Friends(tokens: service, server: FriendsServer { _ in false })
        let reply = try await withCheckedThrowingContinuation { reply in
            friends.load { reply.resume(with: $0) }
        }
        #expect(reply == [])
        #expect(endpoint.requests == 2)
    }

    @Test func `a screen that goes away is answered at once`() async {
        let service = AccessTokenService(loader: ControlledLoader())
        let (results, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        _ = CallbackCode.FriendsScreen(tokens: service) { answer.yield($0) }
        let result = await results.first { _ in true }
        #expect(throws: CancellationError.self) { try result?.get() }
    }

    @Test func `a cancelled task is answered at once`() async {
        let screen = AsyncCode.screen(of: AsyncAccessTokenService(loader: ControlledLoader()))
        await #expect(throws: CancellationError.self) { try await screen.value }
    }

    @Test func `sessions end`() async throws {
        let service = AsyncAccessTokenService(loader: ControlledLoader())
        await AsyncCode.session(of: service, from: AccessToken(value: "first"))
        await #expect(throws: AccessTokenError.signedOut) { try await service.token() }

        let callbackService = AccessTokenService(loader: ControlledLoader())
        await withCheckedContinuation { forgotten in
            CallbackCode.session(of: callbackService, from: AccessToken(value: "first")) { forgotten.resume() }
        }
        await #expect(throws: AccessTokenError.signedOut) { try await callbackService.token() }
    }

    @Test func `a queue serves both worlds with one request`() async throws {
        let (results, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        let loader = CallbackExample.TokenLoader(endpoint: endpoint)
        let token = try await BothWorlds.queueForBoth(loader: loader) { answer.yield($0) }
        #expect(try await results.first { _ in true }?.get() == token)
        #expect(endpoint.requests == 1)
    }

    @Test func `an actor on a legacy queue is entered by code on that queue`() {
        let queue = DispatchQueue(label: "legacy")
        let profile = BothWorlds.Profile(on: queue)
        queue.sync { profile.assumeIsolated { $0.rename(to: "a name") } }
        #expect(queue.sync { profile.assumeIsolated { $0.name } } == "a name")
    }
}
