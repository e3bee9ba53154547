import AccessTokenContract
import SampleShared
import Testing

@Suite("The examples of Migration.md do what is said of them")
struct MigrationExampleTests {
    let authorization = AuthorizationServer()
    let keychain = Keychain()

    @Test func `the trial finds what a sign-in during a load does to the old session`() async throws {
        keychain.credential = authorization.signIn(user: 1)
        let other = authorization.signIn(user: 2)
        let (differences, tell) = AsyncStream.makeStream(of: String.self)
        let tokens = TrialExample.tokens(authorization: authorization, keychain: keychain) { tell.yield($0) }
        authorization.hold()
        callFromLegacyCode(tokens)
        await authorization.received(1)
        // A shadow that comes to its load later than the session would have no need of it.
        while !tokens.isShadowLoading { await Task.yield() }
        tokens.signIn(AccessToken(value: other.accessToken, expiration: other.expiresAt))
        await authorization.release()
        let difference = try #require(await differences.first { _ in true })
        #expect(authorization.exchanges == 1)
        #expect(try text(beginning: "old (serving)") == [difference], "the trial says: \(difference)")
    }

    @Test func `the census lists who still calls`() async throws {
        let service = AsyncAccessTokenService(loader: ControlledLoader())
        await service.signIn(AccessToken(value: "valid"))
        var shown = ""
        CensusExample.run(service: service, api: API(authorization: authorization)) { shown = "\($0)" }
        #expect(try text(beginning: "calls: ") == shown.lines, "the census says:\n\(shown)")
    }

    /// What the guide quotes as output.
    private func text(beginning start: String) throws -> [String]? {
        try CodeBlock.all(in: "Migration.md").first { $0.language == "text" && $0.lines[0].hasPrefix(start) }?.lines
    }

    /// Outside of async code, where the compiler would advise to use `token()`.
    private func callFromLegacyCode(_ provider: any AccessTokenProviding) {
        provider.retrieveToken { _ in }
    }
}
