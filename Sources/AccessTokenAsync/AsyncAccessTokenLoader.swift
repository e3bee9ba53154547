public import AccessTokenCore

/// Obtains new tokens for an ``AsyncAccessTokenService``: the only thing that the service calls.
///
/// Loaders wrap loaders: retrying, throttling and storing are loaders around the one that asks the server.
public protocol AsyncAccessTokenLoader: Sendable {
    /// Obtains a new token, or throws the reason why there is none; the waiters get the error unchanged (clause F1).
    ///
    /// **Concurrency** Called in a task of the service's own, never in a caller's, one load at a time, unless a load
    /// was silent past its deadline or a session ended.
    ///
    /// **Cancellation** A load is never cancelled: the server may have rotated the refresh token already (X2).
    ///
    /// - Parameter old: the token that is no good any more; `nil` at the first load.
    func load(replacing old: AccessToken?) async throws -> AccessToken

    /// Forgets whatever could bring a token of the session that ended. The default has nothing to forget.
    ///
    /// **Concurrency** Called in a task of the service's own, at each sign-out, also while a load is running.
    func signOut() async
}

extension AsyncAccessTokenLoader {
    /// Nothing to forget.
    public func signOut() async {}
}
