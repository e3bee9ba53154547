/// A credential as it is in a store, with the version that it has there.
public struct CredentialRecord: Hashable, Sendable, Codable {
    /// The credential.
    public let credential: Credential

    /// One more with each replacement, and never less than before, not even after a removal.
    public let version: Int

    /// Creates a record, for stores.
    public init(credential: Credential, version: Int) {
        self.credential = credential
        self.version = version
    }
}
