public import AccessTokenAsync
public import AccessTokenGCD

extension AccessTokenService: AsyncAccessTokenProviding {
    /// A valid token, as ``AccessTokenService/retrieveToken(then:)`` provides it; loads if it has to.
    ///
    /// **Concurrency** Stays on the caller's executor; with a valid token it does not suspend at all.
    ///
    /// **Cancellation** Throws `CancellationError` at once (X1) and leaves the load alone (X2); a caller that is
    /// cancelled already starts no load (X3), but gets a token that is there.
    ///
    /// **Failure** A load's error, unchanged (F1); ``AccessTokenError``.
    @inlinable
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        if let token = freshToken { return token }
        return try await waitForToken()
    }

    @usableFromInline
    nonisolated(nonsending) func waitForToken() async throws -> AccessToken {
        // A caller that is cancelled already has its answer before it could be cancelled.
        try await tokenByCallback { handler in retrieveToken(.direct(handler), isCancelled: Task.isCancelled) }
    }

    /// Ends the session (O1 and O3), and returns when the loader has forgotten it, also to a cancelled caller; see
    /// ``AccessTokenService/signOut(then:)``.
    public nonisolated(nonsending) func signOut() async {
        await withCheckedContinuation { continuation in
            endSession { continuation.resume() }
        }
    }
}
