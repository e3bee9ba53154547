import AccessTokenAdapters
import Testing

@Suite("The examples do what is said of them")
struct ExampleTests {
    let endpoint = YourEndpoint()

    @Test func `a callback is given a token`() async {
        let (tokens, answer) = AsyncStream.makeStream(of: AccessToken.self)
        let service = CallbackExample.run(
            endpoint: endpoint,
            send: { answer.yield($0) },
            show: { Issue.record($0) }
        )
        let token = await tokens.first { _ in true }
        #expect(token == service.currentToken)
        #expect(token?.value == "token 1")
    }

    @Test func `a token that the server rejects is replaced by one load`() async throws {
        let server = FriendsServer { $0 == "token 2" }
        let reply = try await AsyncExample.run(endpoint: endpoint, server: server)
        #expect(reply.friends == ["a friend, for token 2"])
        #expect(endpoint.requests == 2)
    }

    @Test func `both worlds share one load`() async throws {
        let (results, answer) = AsyncStream.makeStream(of: Result<AccessToken, any Error>.self)
        let loader = CallbackExample.TokenLoader(endpoint: endpoint)
        let token = try await BothWorldsExample.run(loader: loader, show: { answer.yield($0) })
        let result = await results.first { _ in true }
        #expect(try result?.get() == token)
        #expect(endpoint.requests == 1)
    }
}
