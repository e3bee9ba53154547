import AccessTokenCore
import Foundation

/// Mutual exclusion for all tasks of all processes that use a folder.
final class FolderMutex: Sendable {
    private let folder: CredentialFolder
    private let waitLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let activity: BackgroundActivity
    /// One task of this process waits for the lock, and not each.
    private let turn: AsyncMutex

    init(_ folder: CredentialFolder, waitLimit: TimeInterval, clock: any AccessTokenClock, activity: BackgroundActivity)
    {
        self.folder = folder
        self.waitLimit = waitLimit
        self.clock = clock
        self.activity = activity
        turn = AsyncMutex(waitLimit: waitLimit, clock: clock)
    }

    /// Runs `body` while no other task or process is inside.
    ///
    /// The system ends a suspended app that has a lock in a shared folder. So the lock is given up when the process is about
    /// to be suspended, and a body that wants to write then is told ``CredentialStoreError/superseded``.
    func withLock<Result>(_ body: (FolderLock) async throws -> Result) async throws -> Result {
        let wait = Stopwatch()
        try await turn.lock()
        defer { turn.unlock() }
        let lock = try await FolderLock.acquire(folder, within: max(0, waitLimit - wait.seconds), by: clock)
        let endActivity = activity.begin { lock.release() }
        defer {
            lock.release()
            endActivity()
        }
        return try await body(lock)
    }
}
