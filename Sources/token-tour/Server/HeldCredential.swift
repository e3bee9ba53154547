import AccessTokenCore
import AccessTokenOAuth

/// The credential of a user's own, which one set-up hands on to the next, in memory only.
///
/// It knows the refresh token that came last also while the tour is being interrupted, and when there is no session any
/// more: nothing else has it.
final class HeldCredential: CredentialStore {
    private struct Latest {
        var refreshToken: String?
        var exchanges = 0
        var rotations = 0
    }

    private let base: MemoryCredentialStore
    private let latest: Locked<Latest>

    init(_ credential: Credential) {
        base = MemoryCredentialStore(credential)
        latest = Locked(Latest(refreshToken: credential.refreshToken))
    }

    /// The one to use next; it may have been refused.
    var refreshToken: String? { latest.withLock { $0.refreshToken } }

    /// How often an access token came.
    var exchanges: Int { latest.withLock { $0.exchanges } }

    /// How often another refresh token came with it.
    var rotations: Int { latest.withLock { $0.rotations } }

    func load() async throws -> CredentialRecord? {
        try await base.load()
    }

    @discardableResult
    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord? {
        try await base.update { record in
            let change = try await body(record)
            if case .replace(let credential) = change { note(credential) }
            return change
        }
    }

    private func note(_ credential: Credential) {
        latest.withLock { latest in
            if credential.accessToken != nil { latest.exchanges += 1 }
            guard let token = credential.refreshToken, token != latest.refreshToken else { return }
            latest.refreshToken = token
            latest.rotations += 1
        }
    }
}
