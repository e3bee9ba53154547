import AccessTokenAsync
import AccessTokenContract
import Testing

@Suite("The tests of the article on async code")
struct AsyncCodeTests {
    @Test func `a token that has expired is loaded anew`() async throws {
        let clock = ManualClock()
        let service = AsyncAccessTokenService(loader: HourlyLoader(clock: clock), clock: clock)
        #expect(try await service.token().value == "token 1")
        clock.advance(by: 3500)
        #expect(try await service.token().value == "token 1")
        clock.advance(by: 70)  // 30 s before its end it counts as expired.
        #expect(try await service.token().value == "token 2")
    }

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
