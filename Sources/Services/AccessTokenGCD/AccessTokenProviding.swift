public import AccessTokenCore

/// Provides one valid token to many callers, by callbacks.
///
/// Code that needs tokens depends on this protocol rather than on ``AccessTokenService``. What stands behind it can
/// be exchanged then: today's service of the app's own, the queue service, or an actor behind an adapter.
public protocol AccessTokenProviding: AnyObject, Sendable {
    /// Calls `handler` once with a valid token, or with the reason why there is none.
    ///
    /// **Concurrency** Can be called from any thread. `handler` is called on the queue that the service was given, and
    /// never inside this call (D3, D4). A service of your own may promise less.
    ///
    /// **Cancellation** ``AccessTokenRetrieval/cancel()`` answers this caller with `CancellationError` (clause X1) and
    /// leaves the load alone (X2).
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
    @available(*, renamed: "token()")
    @discardableResult
    func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval

    /// Says that a server rejected this token, as a 401 does (RFC 6750, section 3.1): if it is the current one, the
    /// next call loads (clause I1); if not, it was replaced already, and nothing happens (I2).
    func invalidate(_ rejected: AccessToken)

    /// Ends the session: all waiters get ``AccessTokenError/signedOut`` (clause O1), as do later callers until the
    /// next sign-in (O3). `done` is called when the loader has forgotten the session.
    ///
    /// **Concurrency** With ``AccessTokenService``, callers are later callers as soon as this call has returned. Behind
    /// an adapter of an async service that is true of calls through the same adapter. Other callers may be given a
    /// token of the ended session until the sign-out has reached the service, which it has when `done` is called.
    /// `done` is called where handlers are.
    @available(*, renamed: "signOut()")
    func signOut(then done: @escaping @Sendable () -> Void)
}
