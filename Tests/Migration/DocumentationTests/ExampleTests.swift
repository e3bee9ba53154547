import AccessTokenAdapters
import Testing

@Suite("The examples of the README do what is said of them")
struct ExampleTests {
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

    @MainActor
    @Test func `a token that the server rejects is replaced by one load`() async throws {
        let model = FriendsModel(
            loader: AsyncCode.RotatingLoader(endpoint: YourEndpoint(), refreshToken: "first")
        )
        model.server = FriendsServer { $0 == "token 2" }
        #expect(try await model.friends() == ["a friend, for token 2"])
        #expect(model.tokens.currentToken?.value == "token 2")
    }

    @Test func `both worlds share one load`() async throws {
        let endpoint = YourEndpoint()
        let (results, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        let tokens = Tokens(loader: TokenLoader(endpoint: endpoint, keychain: YourKeychain(refreshToken: "first")))
        callFromLegacyCode(tokens.legacyService) { answer.yield($0) }
        let token = try await tokens.service.token()
        #expect(try await results.first { _ in true }?.get() == token)
        #expect(endpoint.requests == 1)
    }

    /// Outside of async code, where the compiler would advise to use `token()`.
    private func callFromLegacyCode(_ provider: any AccessTokenProviding, then handler: @escaping AccessTokenHandler) {
        provider.retrieveToken(then: handler)
    }
}
