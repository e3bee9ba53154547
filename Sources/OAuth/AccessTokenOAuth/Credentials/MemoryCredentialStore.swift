public import AccessTokenSynchronization
public import Foundation

/// Keeps a credential in memory, for one process and until it ends.
///
/// It is for client credentials, which can be had anew at any time, and for tests.
///
/// **Concurrency** Updates run one at a time, in the order in which they came; those that wait hold no thread.
public final class MemoryCredentialStore: CredentialStore {
    /// 0: every sender of the refresh token is in this process; see ``CredentialStore/takeOverDelay``.
    public let takeOverDelay: TimeInterval = 0

    private let stored: Locked<StoredRecord>
    private let mutex: AsyncMutex

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - credential: what is in it at first; `nil` means signed out.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - clock: timers.
    public init(
        _ credential: Credential? = nil,
        waitLimit: TimeInterval = 120,
        clock: any AccessTokenClock = SystemClock()
    ) {
        stored = Locked(StoredRecord(version: credential == nil ? 0 : 1, credential: credential))
        mutex = AsyncMutex(waitLimit: waitLimit, clock: clock, timedOut: CredentialStoreError.busy)
    }

    /// The record; see ``CredentialStore/load()``.
    public func load() async throws -> CredentialRecord? {
        stored.withLock { $0.record }
    }

    /// Runs `body` while no other update is inside; see ``CredentialStore/update(_:)``.
    @discardableResult
    public func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await mutex.lock()
        defer { mutex.unlock() }
        let old = stored.withLock { $0 }
        guard let new = StoredRecord.applying(try await body(old.record), to: old) else { return old.record }
        stored.withLock { $0 = new }
        return new.record
    }
}
