#if Postgres

extension PostgresCredentialStores {
    /// The accounts whose session is ended, by this process or by another one, while somebody reads the sequence.
    ///
    /// A service hands out the access token that it has, whatever becomes of the record. Have it look at its store:
    ///
    /// ```swift
    /// for await user in stores.endedSessions() {
    ///     if let service = accounts.existingService(for: user), let token = service.currentToken {
    ///         await service.invalidate(token)
    ///     }
    /// }
    /// ```
    ///
    /// The service's next call then says that nobody is signed in, or adopts what a new login has stored meanwhile. A
    /// sign-out in place of `invalidate` would end that login.
    ///
    /// An account is told about a second after its removal. While the database cannot be reached, nothing is told. What
    /// was removed meanwhile is told afterwards, and may be told twice; a session that has begun anew by then is not.
    /// The connection that shows that the process lives stays open for as long as the sequence is read, and carries two
    /// small statements each second.
    ///
    /// - Returns: names of accounts, without an end. It ends when the task that reads it is cancelled.
    public func endedSessions() -> AsyncStream<String> {
        AsyncStream { continuation in
            let number = presence.listen { [pool] in
                await pool.makeRoom()
            } asking: { [pool, table] time in
                try await pool.run(within: PostgresPresence.askPauses.first) { connection throws(PostgresFailure) in
                    try table.ended(since: time, by: connection)
                }
            } _: {
                continuation.yield($0)
            }
            continuation.onTermination = { [presence] _ in presence.stopListening(number) }
        }
    }
}
#endif
