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

        @Test(arguments: RealServer.all)
        func `that are all rejected by the resource at once exchange once, and are all served`(server: RealServer)
            async throws
        {
            // The new token must outlive all its requests, on a busy machine as well.
            try await server.startAgain(lifetime: 30)
            let credential = try await server.signIn()
            let stale = try #require(credential.accessToken)
            // By this clock the token goes on to be good: only the resource says that it is not.
            let clock = ManualClock(now: .now)
            let services = Services(
                try server.endpoint(clock: clock),
                MemoryCredentialStore(credential),
                clock: clock
            )
            for service in services.all { #expect(try await service.token() == stale) }
            try await server.expiry(of: stale)
            let before = try server.tokenRequests
            let statuses = await services.callers(Self.callers * 2) { service in
                var token = try await service.token()
                var statuses = [try await server.status(for: token)]
                // A server that has forgotten the stale token after the exchange may answer 400 for it.
                if statuses[0] != 200 {
                    await service.invalidate(token)
                    token = try await service.token()
                    statuses.append(try await server.status(for: token))
                }
                return statuses
            }
            let rejected = try statuses.count { try $0.get().first == 401 }
            #expect(try statuses.allSatisfy { try $0.get().last == 200 })
            // The last caller may have found the new token already.
            #expect(rejected > 0)
            #expect(await server.tokenRequests(since: before, expected: 1) == 1)
            try await server.startAgain()
        }
    }
}
