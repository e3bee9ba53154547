import AccessTokenCore
import AccessTokenSynchronization
import Foundation

/// The keys to which credentials are bound (RFC 9449): each lives as long as its session.
extension OAuthLoader {
    /// Updates the store, and gives up the key of a session that has ended by that: a refusal, a new login.
    ///
    /// - Parameter kept: the key that is still needed: a sign-out gives it up after the revocation.
    @discardableResult
    func updateStore(
        keeping kept: @Sendable () -> Data? = { nil },
        _ body: @escaping CredentialUpdate
    ) async throws -> CredentialRecord? {
        guard let proofKeys = exchange.proofKeys else { return try await store.update(body) }
        let before = Locked<Data?>(nil)
        let record = try await store.update { record in
            before.withLock { $0 = record?.credential.proofKey }
            return try await body(record)
        }
        learn(from: record)
        if let key = before.withLock({ $0 }), key != record?.credential.proofKey {
            if key != kept() { proofKeys.forget(key) }
            if record == nil { ownProofs?.forget() }
        }
        return record
    }

    /// Keeps the key of the access token that may be handed out.
    func learn(from record: CredentialRecord?) {
        guard let ownProofs, let credential = record?.credential,
            let token = credential.accessToken(for: exchange.key)
        else { return }
        ownProofs.learn(token, credential)
    }
}
