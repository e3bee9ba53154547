import AccessTokenOAuth

/// A store whose exclusion can be lost, as a lease can: only the version keeps a late body from doing harm.
final class LeaseStore: CredentialStore {
    private let record: Locked<CredentialRecord?>

    init(_ credential: Credential) {
        record = Locked(CredentialRecord(credential: credential, version: 1))
    }

    /// What a peer writes while somebody else believes to be alone.
    func writeAsPeer(_ credential: Credential?) {
        record.withLock { record in
            let version = (record?.version ?? 0) + 1
            record = credential.map { CredentialRecord(credential: $0, version: version) }
        }
    }

    func load() async throws -> CredentialRecord? { record.withLock { $0 } }

    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord? {
        let base = record.withLock { $0 }
        let change = try await body(base)
        return record.withLock { record in
            guard record?.version == base?.version else { return record }
            switch change {
            case .keep: break
            case .replace(let credential):
                record = CredentialRecord(credential: credential, version: (base?.version ?? 0) + 1)
            case .remove: record = nil
            }
            return record
        }
    }
}
