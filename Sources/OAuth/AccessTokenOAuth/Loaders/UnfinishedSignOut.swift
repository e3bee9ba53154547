/// What is left of a session that ``OAuthLoader/endSession()`` could not end completely.
///
/// The user is signed out of this process all the same: no load hands the credential out.
public struct UnfinishedSignOut: Error {
    /// Why the credential is still in the store; `nil` if it is gone.
    ///
    /// This process removes it as soon as the store allows, for as long as it lives: also if another process that
    /// shares the store has renewed the session meanwhile. Until then that process may use it, unless the server has
    /// revoked it. A session that began later, by a sign-in, stays.
    public let store: (any Error)?

    /// Why the server was not told, so that the refresh token may still be good; `nil` if the server has revoked it, or
    /// if the endpoint has no ``TokenEndpoint/revocationURL``.
    ///
    /// The credential is not kept for another attempt: the user has to end the session at the server.
    public let server: (any Error)?
}

extension UnfinishedSignOut: CustomStringConvertible {
    /// What is left where, and never a secret.
    public var description: String {
        let parts = [
            store.map { "the credential is still in the store (\(Self.text($0)))" },
            server.map { "the server has not revoked the refresh token (\(Self.text($0)))" },
        ]
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    /// An error of others could repeat what it was given.
    private static func text(_ error: any Error) -> String {
        switch error {
        case is OAuthError, is CredentialStoreError: "\(error)"
        default: "an error of type \(type(of: error))"
        }
    }
}
