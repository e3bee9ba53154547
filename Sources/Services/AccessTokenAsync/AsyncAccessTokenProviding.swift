public import AccessTokenCore

/// Provides one valid token to many callers, by `async` functions.
///
/// Code that needs tokens depends on this protocol rather than on ``AsyncAccessTokenService``. What stands behind
/// it can be exchanged then: the actor, or a callback service behind an adapter.
public protocol AsyncAccessTokenProviding: Sendable {
    /// A valid token.
    ///
    /// **Concurrency** Stays on the caller's executor: without an event handler, a valid token is answered without a
    /// hop.
    ///
    /// **Cancellation** Throws `CancellationError` at once (clause X1) and leaves the load alone (X2).
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
    nonisolated(nonsending) func token() async throws -> AccessToken

    /// Says that a server rejected this token, as a 401 does (RFC 6750, section 3.1): if it is the current one, the
    /// next call loads (clause I1); if not, it was replaced already, and nothing happens (I2).
    func invalidate(_ rejected: AccessToken) async

    /// Ends the session: all waiters get ``AccessTokenError/signedOut`` (clause O1), as do later callers until the
    /// next sign-in (O3). Returns when the loader has forgotten the session.
    ///
    /// **Cancellation** None: it returns then for a cancelled caller as well.
    func signOut() async
}
