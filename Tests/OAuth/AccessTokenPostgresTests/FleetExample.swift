#if Postgres
import AccessTokenPostgres
import Foundation

/// What the page "On a server" shows.
enum FleetExample {
    static func tokens(database: String, tokenURL: URL, secret: String) -> AsyncAccessTokenService {
        let store = PostgresCredentialStore(database, name: "partner-api")
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
        try await PostgresCredentialStore(database, name: "partner-api").update { record in
            record == nil ? .replace(Credential(refreshToken: refreshToken)) : .keep
        }
    }
}
#endif
