public import AccessTokenCore

/// Obtains new tokens for an ``AsyncAccessTokenService``: the only thing that the service calls.
///
/// Loaders wrap loaders: retrying, throttling and storing are loaders around the one that asks the server.
public protocol AsyncAccessTokenLoader: Sendable {
    /// Obtains a new token, or throws the reason why there is none; the waiters get the error unchanged (clause F1).
    ///
    /// **Concurrency** Called in a task of the service's own, never in a caller's, one load at a time, unless a load
    /// was silent past its deadline or a sign-out ended its session. The service begins no load that was given up. A
    /// loader that is an actor can begin one: if the actor was busy until after the deadline, its method runs beside
    /// the next load. Let such a loader ask ``AccessTokenLoad/isWanted`` before it sends its request.
    ///
    /// **Cancellation** The task of a load is cancelled at sign-out, and for no other reason. Callers that are
    /// cancelled do not cancel it (X2), nor does its deadline: the server may have rotated the refresh token already.
    ///
    /// - Parameter old: the token that is no good any more, or soon will be; `nil` if the session has had none.
    func load(replacing old: AccessToken?) async throws -> AccessToken

    /// Forgets whatever could bring a token of the session that ended. The default has nothing to forget.
    ///
    /// **Concurrency** Called in a task of the service's own, once for each sign-out, after the loads of the ended
    /// session. A load that is past its deadline may still be running, and so may the load that has itself signed out.
    /// A sign-out during this call joins this call. Do not wait for it here: it ends only when this call ends.
    func signOut() async
}

extension AsyncAccessTokenLoader {
    /// Nothing to forget.
    public func signOut() async {}
}
