import AccessTokenAsync
import AccessTokenContract
import Testing

@Suite("The tests of the article on async code")
struct AsyncCodeTests {
    @Test func `two screens share one load`() async throws {
        let loader = ControlledLoader()
        let service = AsyncAccessTokenService(loader: loader)
        async let friends = service.token()
        async let user = service.token()
        await loader.started(1)?.answer(.success(AccessToken(value: "secret")))
        let tokens = try await [friends, user]
        #expect(tokens[0] == tokens[1])
        #expect(loader.loads.count == 1)
    }
}
