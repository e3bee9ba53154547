import AccessTokenOAuth
import ConsoleSupport
import Foundation

/// A credential store that records each read and each write for the diagram.
struct RecordingStore: CredentialStore {
    let base: any CredentialStore
    /// Whether the loader decides inside ``update(_:)``, on the record that is there.
    ///
    /// A naive loader only writes there.
    let isTransactional: Bool
    let recorder: RoundRecorder
    /// The short name of an access token's value.
    let name: @Sendable (String) -> String

    func load() async throws -> CredentialRecord? {
        let record = try await base.load()
        recordRead("read", record)
        return record
    }

    @discardableResult
    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord? {
        try await base.update { record in
            if isTransactional { recordRead("lock and read", record) }
            let change = try await body(record)
            switch change {
            case .keep: break
            case .replace(let credential):
                recorder.record(.request(from: .service, to: .store, "write \(text(of: credential))"))
            case .remove:
                recorder.record(.request(from: .service, to: .store, "write: signed out"))
            }
            return change
        }
    }

    private func recordRead(_ action: String, _ record: CredentialRecord?) {
        recorder.record(.request(from: .service, to: .store, action))
        recorder.record(.answer(from: .store, to: .service, record.map { text(of: $0.credential) } ?? "nothing"))
    }

    private func text(of credential: Credential) -> String {
        guard let token = credential.accessToken else { return "a refresh token" }
        guard let expiration = token.expiration else { return name(token.value) }
        return "\(name(token.value)), \(Int((expiration.timeIntervalSinceNow / 60).rounded())) min"
    }
}
