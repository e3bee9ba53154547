public import AccessTokenCore

extension OAuthLoader {
    /// What the store has of a session, without asking the server; `nil` if nobody is signed in.
    ///
    /// It is what a load would find that may send nothing. A session of another subject counts as none, and so does an
    /// expired token without a refresh token. A client that signs in by itself, by a grant, always has a session.
    ///
    /// ```swift
    /// let session = ObservedSession(of: tokens, stored: { try await loader.storedSession() })
    /// ```
    ///
    /// **Failure** What the store throws when it is read. That is no sign-out.
    public func storedSession() async throws -> StoredSession? {
        let record = try await store.load()
        let machine = machine(replacing: nil)
        let now = exchange.clock.now
        let key = exchange.key
        var session = StoredSession(
            token: record?.credential.accessToken(for: key),
            subject: record?.credential.subject
        )
        // The machine says what a load would do with the record: what the loader remembers counts as well.
        guard case .settle(_, .failure(let error)) = memory.withLock({ machine.step(on: record, $0, at: now) }) else {
            return session
        }
        if AccessTokenError.signedOut ~= error { return nil }
        session.needsLogin = (error as? OAuthError)?.needsLogin == true
        return session
    }
}

extension OAuthError: LoginNeedingError {
    /// Only a login helps, or nobody knows: ``requiresSignIn``, or ``sessionMayBeSpent``.
    public var needsLogin: Bool { requiresSignIn || sessionMayBeSpent }
}
