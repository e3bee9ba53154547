public import AccessTokenCore

/// Obtains new tokens for an ``AccessTokenService``: the only thing that the service calls.
///
/// Loaders wrap loaders: retrying, throttling and storing are loaders around the one that asks the server.
public protocol AccessTokenLoader: Sendable {
    /// Obtains a new token and calls `handler` with it, or with the reason why there is none.
    ///
    /// Call `handler` once: before returning or later, from any thread. Only its first call counts (clause D7), and
    /// a handler that is released uncalled fails the waiters with ``AccessTokenError/loadAbandoned``. A loader that finds
    /// its session over answers ``AccessTokenError/signedOut``. It does not sign out in its request's callback: another
    /// user may have signed in since, and the sign-out would wait for the load.
    ///
    /// **Concurrency** Called on a private serial queue of the service, one load at a time, unless a load was silent
    /// past its deadline or a sign-out ended its session. Return promptly. The next load and a sign-out wait until you
    /// have returned, even past the load's deadline. If your code may wait before it sends its request, ask
    /// ``AccessTokenLoad/isWanted`` just before: here, or in a `Task {}` that is started here. On another queue it is
    /// always `true`.
    ///
    /// **Cancellation** A load is never cancelled: the server may have rotated the refresh token already (X2).
    ///
    /// `old` is the token that is no good any more, or soon will be; `nil` if the session has had none.
    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler)

    /// Forgets whatever could bring a token of the session that ended, and calls `done`.
    ///
    /// The default does so at once: nothing to forget.
    ///
    /// **Concurrency** Called on the same queue as ``load(replacing:then:)``, once for each sign-out, after the loads
    /// of the ended session. A load that is past its deadline may still be running, and so may the load that has itself
    /// signed out. A sign-out during this call joins this call. Do not wait for such a sign-out here: it ends only
    /// when this call ends.
    func signOut(then done: @escaping @Sendable () -> Void)
}

extension AccessTokenLoader {
    /// Nothing to forget.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        done()
    }
}
