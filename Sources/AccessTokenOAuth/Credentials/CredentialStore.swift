/// Where a credential is kept, for everybody who uses it: tasks, processes, machines.
///
/// Two requirements, since lock, read, check again, write, unlock is the only order in which a credential that rotates
/// can be shared. Sign-in and sign-out go through ``update(_:)`` as well.
///
/// A store promises:
/// 1. At most one body runs at a time, and it sees the record as it is at that moment.
/// 2. What a body replaces is durable before `update` returns and before the next body runs.
/// 3. The version is one more after each replacement, stays with `keep`, and never goes back, not even by a removal.
/// 4. If the body throws, or whoever runs it dies, nothing is written and the next one may go in.
/// 5. ``load()`` neither waits for a body nor gets half of a record.
/// 6. Waiting has an end: ``CredentialStoreError/busy``, and the body was not run.
public protocol CredentialStore: Sendable {
    /// The record, complete; waits for no lock. `nil` means signed out.
    func load() async throws -> CredentialRecord?

    /// Runs `body` while no other task, process or machine is inside, with the record as it is then, and does what it
    /// returns.
    ///
    /// **Concurrency** Do not call it for the same store from inside `body`: that waits for itself until it is busy.
    ///
    /// **Failure** Throws what `body` throws, and then has written nothing; ``CredentialStoreError/busy``; or an error of
    /// its own, and then may have written or not.
    ///
    /// - Returns: the record as it is afterwards.
    @discardableResult
    func update(
        _ body: @Sendable (CredentialRecord?) async throws -> CredentialChange
    ) async throws -> CredentialRecord?
}
