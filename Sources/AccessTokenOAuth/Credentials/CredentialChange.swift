/// What is to become of the credential in a store.
public enum CredentialChange: Hashable, Sendable {
    /// It stays as it is, and so does its version.
    case keep
    /// This one takes its place, or begins a session.
    case replace(Credential)
    /// The session has ended.
    case remove
}
