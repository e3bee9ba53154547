#if Postgres
import AccessTokenPostgres
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// What the page "On a server" shows.
enum FleetExample {
    static func tokens(database: String, tokenURL: URL, secret: String) -> AsyncAccessTokenService {
        let store = PostgresCredentialStores(database).store(for: "partner-api")
        let endpoint = TokenEndpoint(
            tokenURL,
            authentication: .basic(clientID: "billing", secret: secret),
            deadline: 10
        )
        let loader = OAuthLoader(endpoint: endpoint, store: store) { error in
            FileHandle.standardError.write(Data("partner-api: \(error)\n".utf8))
        }
        return AsyncAccessTokenService(
            loader: ThrottlingLoader(RetryingLoader(loader)),
            onEvent: AccessTokenEventLog.standardError(label: "partner-api")
        )
    }

    /// Once, by a person or a deployment: the first refresh token.
    static func begin(database: String, refreshToken: String) async throws {
        let store = PostgresCredentialStores(database).store(for: "partner-api")
        try await store.update { record in
            record == nil ? .replace(Credential(refreshToken: refreshToken)) : .keep
        }
    }
}

@Suite("The example of the page “On a server”", .takesTurns, .needsPostgres, .endsHangs)
struct FleetExampleTests {
    @Test func `two machines share the refresh token that was stored first, and one load`() async throws {
        let database = try await TestDatabase().connectionString
        let server = try RotatingAuthorizationServer(clients: [.confidential("billing", secret: "s3cret")])
        defer { server.stop() }
        for refreshToken in [server.signIn().refreshToken, "late"] {
            try await FleetExample.begin(database: database, refreshToken: refreshToken)
        }
        let machines = (1...2).map { _ in
            FleetExample.tokens(database: database, tokenURL: server.tokenEndpoint, secret: "s3cret")
        }
        async let first = machines[0].token()
        async let second = machines[1].token()
        #expect(try await first.value == second.value)
        #expect(server.tally.tokenRequests == 1)
    }
}
#endif
