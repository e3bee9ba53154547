import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import Foundation
import Testing

extension RealServerTests {
    @Suite("A hundred callers of both kinds")
    struct CrowdTests {
        private static let rounds = 20
        private static let callers = 100

        @Test(arguments: RealServer.all)
        func `exchange once when their token expires or is rejected, round after round`(server: RealServer) async throws
        {
            let clock = ManualClock(now: .now)
            let credential = try await server.signIn()
            let store = MemoryCredentialStore(credential)
            let services = Services(try server.endpoint(clock: clock), store, clock: clock)
            var last = try #require(credential.accessToken)
            for service in services.all { #expect(try await service.token() == last) }
            var refreshTokens: Set<String> = []
            let before = try server.tokenRequests
            for round in 0..<Self.rounds {
                let isExpiry = round.isMultiple(of: 2)
                if isExpiry { clock.advance(by: 7200) }
                let tokens = await services.callers(Self.callers) { [last] service in
                    if !isExpiry { await service.invalidate(last) }
                    return try await service.token()
                }
                let token = try tokens[0].get()
                for other in tokens { #expect(try other.get() == token) }
                #expect(token != last)
                #expect(try await server.status(for: token) == 200)
                refreshTokens.insert(try #require(try await store.refreshToken))
                last = token
            }
            #expect(await server.tokenRequests(since: before, expected: Self.rounds) == Self.rounds)
            #expect(refreshTokens.count == (server.rotates ? Self.rounds : 1))
        }
    }
}
