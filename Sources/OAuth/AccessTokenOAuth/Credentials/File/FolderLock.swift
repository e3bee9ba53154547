import AccessTokenSynchronization
import Dispatch
import Foundation

/// The exclusive right to a credential folder, between processes: a lock on the folder itself.
///
/// A file for the lock could be deleted while it is locked, and the next process would lock another one.
///
/// The system releases it when the process ends, however that ends. Waiting for it holds no thread.
final class FolderLock: Sendable {
    /// Seconds between two attempts, at first and at most: short beside an exchange, long beside an attempt.
    private static let pauses = (first: 0.001, longest: 0.016)

    /// A process loses the lock when it dies, or when it is suspended, which may be for ever.
    ///
    /// A live process may need a moment between the note that it will send, and the request.
    static var takeOverDelay: TimeInterval {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        .infinity
        #else
        2
        #endif
    }

    let folder: FileDescriptor
    private let place: CredentialFolder
    private let isReleased = Locked(false)

    private init(_ place: CredentialFolder) throws {
        self.place = place
        folder = try place.openOrMake()
        try place.requireWritable(folder)
    }

    /// Waits for the lock; after `limit` seconds, it throws ``CredentialStoreError/busy``.
    static func acquire(
        _ place: CredentialFolder,
        within limit: TimeInterval,
        by clock: any AccessTokenClock
    ) async throws -> FolderLock {
        var left = limit
        var pause = pauses.first
        while true {
            try Task.checkCancellation()
            if let lock = try lockAtOnce(place) { return lock }
            guard left > 0 else { throw CredentialStoreError.busy }
            // Those who wait are not to try all at the same moment.
            let length = min(left, pause * .random(in: 0.5...1))
            try await clock.pause(for: length)
            left -= length
            pause = min(pauses.longest, pause * 2)
        }
    }

    /// The lock, unless somebody has it.
    ///
    /// Nobody who waits keeps the folder open: a thousand may wait.
    private static func lockAtOnce(_ place: CredentialFolder) throws -> FolderLock? {
        let lock = try FolderLock(place)
        // A folder that was replaced after it had been opened is one that no process uses any more.
        return try lock.tryToLock() && lock.isPresent ? lock : nil
    }

    /// Gives the lock up, unless that was done before.
    ///
    /// A child that was forked and shares the descriptor must not prolong the lock, so closing it is not enough.
    func release() {
        isReleased.withLock { isReleased in
            isReleased = true
            _ = flock(folder.number, LOCK_UN)
        }
    }

    /// Runs `body`, which is short, while only this process can have the lock; a release waits for its end.
    ///
    /// - Throws: ``CredentialStoreError/superseded`` if the lock was released, or is no longer the one that others wait
    ///   for.
    func whileHeld(_ body: () throws -> Void) throws {
        try isReleased.withLock { isReleased in
            // A process with the lock of a newer folder may write at this moment.
            guard !isReleased, isPresent else { throw CredentialStoreError.superseded }
            try body()
        }
    }

    /// Whether the folder that is locked is still the one that others wait for.
    private var isPresent: Bool { place.isPresent(folder) }

    private func tryToLock() throws -> Bool {
        while flock(folder.number, LOCK_EX | LOCK_NB) != 0 {
            let failure = SystemCallFailure("flock")
            if failure.code == EWOULDBLOCK { return false }
            guard failure.code == EINTR else { throw CredentialStoreError.unavailable(at: place.place, "\(failure)") }
        }
        return true
    }
}

/// Mutual exclusion for all tasks of all processes that use a folder.
final class FolderMutex: Sendable {
    let folder: CredentialFolder
    private let waitLimit: TimeInterval
    private let clock: any AccessTokenClock
    private let activity: BackgroundActivity
    /// One task of this process waits for the lock, and not each.
    private let turn: AsyncMutex

    init(
        _ folder: CredentialFolder,
        waitLimit: TimeInterval,
        clock: any AccessTokenClock,
        activity: BackgroundActivity = .system
    ) {
        self.folder = folder
        self.waitLimit = waitLimit
        self.clock = clock
        self.activity = activity
        turn = AsyncMutex(waitLimit: waitLimit, clock: clock, timedOut: CredentialStoreError.busy)
    }

    /// Runs `body` while no other task or process is inside.
    ///
    /// The system ends a suspended app that has a lock in a shared folder. So the lock is given up when the process is
    /// about to be suspended, and a body that wants to write then is told ``CredentialStoreError/superseded``.
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

/// Asks the system to let the process run on for a while although its app goes to the background.
struct BackgroundActivity: Sendable {
    /// Begins an activity, and returns what ends it; the closure is called at most once, when the system wants to
    /// suspend the process before that.
    let begin: @Sendable (_ onExpiry: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    /// What the platform has; nothing where processes are not suspended.
    static let system = BackgroundActivity { onExpiry in
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        // The system keeps the process running for as long as the closure has not returned. It holds a thread of the
        // system's own.
        let end = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "Renewing an access token") { isExpired in
            if isExpired {
                onExpiry()
                end.signal()
            } else {
                end.wait()
            }
        }
        return { _ = end.signal() }
        #else
        return {}
        #endif
    }
}
