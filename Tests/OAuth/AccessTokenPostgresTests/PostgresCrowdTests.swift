#if Postgres
import AccessTokenCore
import AccessTokenPostgres
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@Suite("The store in PostgreSQL, with many users", .serialized, .needsPostgres, .endsHangs)
struct PostgresCrowdTests {
    @Test func `renews the tokens of a thousand users by nine connections, each once`() async throws {
        let (database, count) = (try await TestDatabase(), 1000)
        let server = try RotatingAuthorizationServer(latency: 0.1)
        defer { server.stop() }
        let stores = database.stores(connections: 8, waitLimit: 3600)
        let endpoint = TokenEndpoint(
            server.tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID),
            // A busy machine may need longer than usual.
            deadline: 3600
        )
        for number in 1...count {
            let credential = Credential(refreshToken: server.signIn().refreshToken)
            try await stores.store(for: "\(number)").update { _ in .replace(credential) }
        }
        let connected = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1"
        let start = ContinuousClock.now
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...count {
                group.addTask {
                    let loader = OAuthLoader(endpoint: endpoint, store: stores.store(for: "\(number)"))
                    return try await RetryingLoader(loader).load(replacing: nil).value
                }
            }
            var tokens: Set<String> = []
            for try await token in group {
                tokens.insert(token)
                guard tokens.count.isMultiple(of: 100) else { continue }
                let open = try await database.run(connected, [database.application]).count
                #expect(open <= 9)
            }
            return tokens
        }
        // A figure for the page "On a server", and no check: it depends on the machine.
        let seconds = start.duration(to: .now) / .seconds(1)
        print("PostgreSQL: \(count) renewals by 9 connections, \(Int(Double(count) / seconds)) a second")
        #expect(tokens.count == count)
        #expect(server.tally.tokenRequests == count)
        #expect(server.tally.reuses == 0)
    }
}
#endif
