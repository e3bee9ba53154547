#if Postgres
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation

/// The store of one account.
struct PostgresCredentialStore: PlacedCredentialStore {
    let stores: PostgresCredentialStores
    let account: String

    var takeOverDelay: TimeInterval { stores.takeOverDelay }

    var memoryName: String { stores.memoryName(of: account) }

    func load() async throws -> CredentialRecord? { try await stores.load(account) }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await stores.update(account, body) }

    func reset(evenIfReadable: Bool) async throws {
        try await stores.reset(account, evenIfReadable: evenIfReadable)
    }
}

extension PostgresCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credential is; never a secret.
    var description: String { "PostgresCredentialStore(\(stores.place(of: account)))" }

    /// A mirror without connection string, seal and credential: `dump` prints no secret.
    var customMirror: Mirror { Mirror(self, children: ["place": stores.place(of: account)], displayStyle: .struct) }
}
#endif
