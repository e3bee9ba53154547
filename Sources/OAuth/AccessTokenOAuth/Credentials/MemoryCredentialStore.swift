public import AccessTokenCore
public import Foundation

/// Keeps a credential in memory, for one process and until it ends.
///
/// It is for client credentials, which can be had anew at any time, and for tests. A user who is to stay signed in needs
/// a store that lasts.
///
/// **Concurrency** Updates run one at a time, in the order in which they came; those that wait hold no thread.
///
/// **Cancellation** A cancelled task that waits throws `CancellationError`, and its body is not run. A body that runs is
/// its own task's matter, and is written all the same.
public final class MemoryCredentialStore: CredentialStore {
    private struct State {
        var credential: Credential?
        /// Stays after a removal: it never goes back.
        var version: Int

        var record: CredentialRecord? {
            credential.map { CredentialRecord(credential: $0, version: version) }
        }
    }

    /// 0: every sender of the refresh token is in this process; see ``CredentialStore/takeOverDelay``.
    public let takeOverDelay: TimeInterval = 0

    private let state: Locked<State>
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
        state = Locked(State(credential: credential, version: credential == nil ? 0 : 1))
        mutex = AsyncMutex(waitLimit: waitLimit, clock: clock)
    }

    /// The record; see ``CredentialStore/load()``.
    public func load() async throws -> CredentialRecord? {
        state.withLock { $0.record }
    }

    /// Runs `body` while no other update is inside; see ``CredentialStore/update(_:)``.
    @discardableResult
    public func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await mutex.lock()
        defer { mutex.unlock() }
        let change = try await body(state.withLock { $0.record })
        return state.withLock { state in
            switch change {
            case .keep: break
            case .replace(let credential):
                state.credential = credential
                state.version += 1
            case .remove:
                state.credential = nil
            }
            return state.record
        }
    }
}
