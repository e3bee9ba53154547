import AccessTokenOAuth
import Foundation
import Synchronization

nonisolated enum OnAServer {
    static func tokens(tokenURL: URL, secret: String, logger: YourLogger) -> AsyncAccessTokenService {
        let endpoint = TokenEndpoint(tokenURL, authentication: .basic(clientID: "billing", secret: secret))
        let loader = OAuthLoader(
            endpoint: endpoint,
            store: MemoryCredentialStore(),
            grant: .clientCredentials(scope: "invoices")
        )
        return AsyncAccessTokenService(loader: ThrottlingLoader(RetryingLoader(loader))) { event in
            logger.info("\(event)")
        }
    }
}

nonisolated enum ManyUsers {
    static func accounts(
        tokenURL: URL,
        secret: String,
        store: @escaping @Sendable (_ user: String) -> any CredentialStore
    ) -> AccessTokenAccounts<String, AsyncAccessTokenService> {
        let endpoint = TokenEndpoint(tokenURL, authentication: .basic(clientID: "mail", secret: secret))
        let exchange = TokenExchange(endpoint)
        return AccessTokenAccounts(idleLimit: 600, most: 10_000) { user in
            let loader = OAuthLoader(exchange, store: store(user))
            // A load that waits its turn among thousands is late, and not silent.
            return AsyncAccessTokenService(loader: RetryingLoader(loader), policy: AccessTokenPolicy(loadDeadline: nil))
        }
    }
}

nonisolated struct Users: Sendable {
    let accounts: AccessTokenAccounts<String, AsyncAccessTokenService>
    let server: FriendsServer

    /// A request in the name of a user.
    func friends(of user: String) async throws -> [String] {
        try await accounts.service(for: user).withToken(isRejected: { $0.status == 401 }) { token in
            try await server.friends(bearer: token.value)
        }.friends
    }

    /// Forgets the user's credential, and revokes it if the endpoint has a revocation URL.
    func signOut(_ user: String) async {
        await accounts.signOut(user)
    }

    /// The users whose services are in memory; your store has those who are signed in.
    var active: [String] { accounts.accounts }
}

/// A folder for each user, by the bytes of the name, and one store object for each folder.
nonisolated final class UserStores: Sendable {
    private let folder: URL
    private let stores = Mutex<[String: FileCredentialStore]>([:])

    init(in folder: URL) { self.folder = folder }

    @inline(never)
    func store(for user: String) -> FileCredentialStore {
        let name = "user-" + user.utf8.map { String(format: "%02x", $0) }.joined()
        return stores.withLock { stores in
            let store = stores[name] ?? FileCredentialStore(folder: folder.appendingPathComponent(name))
            stores[name] = store
            return store
        }
    }
}

/// Client credentials over an HTTP client of your own.
nonisolated struct ClientCredentialsLoader: AsyncAccessTokenLoader {
    let client: YourHTTPClient
    let tokenURL: String
    let clientID: String
    let secret: String

    private struct Reply: Decodable {
        let accessToken: String
        let expiresIn: TimeInterval?
    }

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        let form = ["grant_type": "client_credentials", "client_id": clientID, "client_secret": secret]
        let (status, body) = try await client.post(tokenURL, form: form)
        switch status {
        case 200:
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            guard let reply = try? decoder.decode(Reply.self, from: body) else {
                throw OAuthError.notUnderstood(status: status, "it has no access token")
            }
            return AccessToken(value: reply.accessToken, expiration: reply.expiresIn.map { Date.now + $0 })
        case 429, 500...599: throw OAuthError.unavailable(status: status)  // A RetryingLoader tries again.
        default: throw OAuthError.refused("invalid_client")
        }
    }
}

/// Stands for the logger of swift-log.
nonisolated struct YourLogger: Sendable {
    func info(_ text: String) {}
}

/// Stands for the client that your server has.
nonisolated struct YourHTTPClient: Sendable {
    func post(_ url: String, form: [String: String]) async throws -> (status: Int, body: Data) { (503, Data()) }
}
