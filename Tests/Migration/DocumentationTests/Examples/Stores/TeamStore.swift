import AccessTokenOAuth

nonisolated final class TeamStore: CredentialStore {
    private let database: YourDatabase
    private let user: String

    init(database: YourDatabase, user: String) {
        self.database = database
        self.user = user
    }

    func load() async throws -> CredentialRecord? {
        try database.row(user).record
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        do {
            return try await database.withLockedRow(user) { row in  // SELECT … FOR UPDATE
                switch try await body(row.record) {
                case .keep: break
                case .replace(let credential): row = YourDatabase.Row(credential: credential, version: row.version + 1)
                case .remove: row = YourDatabase.Row(credential: nil, version: row.version + 1)  // The row stays.
                }
                return row.record
            }
        } catch is YourDatabase.LockTimeout {
            throw CredentialStoreError.busy  // So a loader knows that it may come again.
        }
    }
}
