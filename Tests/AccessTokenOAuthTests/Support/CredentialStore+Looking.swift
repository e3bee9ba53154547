import AccessTokenOAuth

extension CredentialStore {
    var credential: Credential? {
        get async throws { try await load()?.credential }
    }

    var refreshToken: String? {
        get async throws { try await load()?.credential.refreshToken }
    }

    var version: Int? {
        get async throws { try await load()?.version }
    }
}
