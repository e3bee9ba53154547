import AccessTokenCore
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The exclusive right to a credential folder, between processes: a lock on a file that is never removed.
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
    private let file: FileDescriptor
    private let identity: FileStatus.Identity
    private let place: CredentialFolder
    private let isReleased = Locked(false)

    private init(_ place: CredentialFolder) throws {
        self.place = place
        folder = try place.openOrMake()
        file = try place.lockFile(in: folder)
        identity = try file.status().identity
    }

    /// Waits for the lock.
    ///
    /// - Parameter limit: seconds, after which it throws ``CredentialStoreError/busy``.
    static func acquire(
        _ place: CredentialFolder,
        within limit: TimeInterval,
        by clock: any AccessTokenClock
    ) async throws -> FolderLock {
        var left = limit
        var pause = pauses.first
        var lock = try FolderLock(place)
        while true {
            try Task.checkCancellation()
            if try lock.tryToLock() {
                if lock.isPresent { return lock }
                // Folder or file were replaced after they had been opened; the lock is on what no process uses any more.
                lock = try FolderLock(place)
            }
            guard left > 0 else { throw CredentialStoreError.busy }
            // Those who wait are not to try all at the same moment.
            let length = min(left, pause * .random(in: 0.5...1))
            try await clock.pause(for: length)
            left -= length
            pause = min(pauses.longest, pause * 2)
        }
    }

    /// Gives the lock up, unless that was done before.
    ///
    /// A child that was forked and shares the descriptor must not prolong the lock, so closing it is not enough.
    func release() {
        isReleased.withLock { isReleased in
            isReleased = true
            _ = flock(file.number, LOCK_UN)
        }
    }

    /// Runs `body`, which is short, while only this process can have the lock; a release waits for its end.
    ///
    /// - Throws: ``CredentialStoreError/superseded`` if the lock was released, or is no longer the one that others wait for.
    func whileHeld(_ body: () throws -> Void) throws {
        try isReleased.withLock { isReleased in
            // A process with the lock of a newer file may write at this moment.
            guard !isReleased, isPresent else { throw CredentialStoreError.superseded }
            try body()
        }
    }

    /// Whether the file that is locked is still the one that others wait for.
    private var isPresent: Bool {
        place.isPresent(folder) && FileStatus.of(CredentialFolder.lockName, in: folder.number)?.identity == identity
    }

    /// A name that only the holder of this lock uses, and no process that has lost it.
    var temporaryName: String { "credential.\(identity.number).new" }

    private func tryToLock() throws -> Bool {
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            let failure = SystemCallFailure("flock")
            if failure.code == EWOULDBLOCK { return false }
            guard failure.code == EINTR else { throw CredentialStoreError.unavailable(at: place.place, "\(failure)") }
        }
        return true
    }
}
