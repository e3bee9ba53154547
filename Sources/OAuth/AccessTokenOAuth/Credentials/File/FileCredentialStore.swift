public import AccessTokenSynchronization
public import Foundation

/// Keeps a credential in a folder on disk, for all processes of one user on one machine.
///
/// ```swift
/// let store = FileCredentialStore(folder: applicationSupport.appendingPathComponent("com.example.app/session"))
/// ```
///
/// The folder is made with mode 0700, and each file in it with 0600. A record is replaced as a whole and flushed to the
/// disk before `update` returns. The folder has to be on a disk of this machine; see <doc:Promises>.
///
/// **Concurrency** One body runs at a time, in all processes that use the folder. Those that wait hold no thread, and
/// are not served in the order in which they came. Have one store for a folder in a process, and a folder for each
/// credential.
///
/// **Failure** ``CredentialStoreError``:
/// - `unreadable`: the file is damaged, or its seal cannot be opened. It is left as it is, until ``reset()`` or a
///   sign-out removes it.
/// - `insecure`: folder or file can be used by others, belongs to another user, or is a symbolic link; or others may
///   write to the folder above. The process's own group may, since it is often a private one, and so may anybody where
///   the sticky bit is set, as in `/tmp`. The folders above that one are not looked at.
/// - `unavailable`: the disk is full, or has no room for what an exchange may bring; the folder cannot be written or
///   was removed; or the record has more than 16 MiB.
/// - `superseded`: the lock was lost while a body ran, and nothing was written.
public final class FileCredentialStore: PlacedCredentialStore {
    /// 2 seconds; unlimited where the system suspends apps; see ``CredentialStore/takeOverDelay``.
    public var takeOverDelay: TimeInterval { FolderLock.takeOverDelay }

    package var memoryName: String { "folder \(folder.resolvedPlace)" }

    private let folder: CredentialFolder
    private let coder: StoredRecordCoder
    private let mutex: FolderMutex
    /// What was in the folder when it was removed under a body: the body's credential can still be saved.
    private let lost = Locked<StoredRecord?>(nil)

    /// Creates a store; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - folder: where the credential is, and nothing else. It is made if there is none, with the folders above it.
    ///   - seal: keeps the credential unreadable on disk; `nil` leaves that to the permissions.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - clock: timers.
    public convenience init(
        folder: URL,
        seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 120,
        clock: any AccessTokenClock = SystemClock()
    ) {
        self.init(seal: seal, mutex: FolderMutex(CredentialFolder(folder), waitLimit: waitLimit, clock: clock))
    }

    init(seal: CredentialSeal?, mutex: FolderMutex) {
        folder = mutex.folder
        coder = StoredRecordCoder(place: folder.recordPlace, seal: seal)
        self.mutex = mutex
    }

    /// Reads the record, on no actor of the caller's; see ``CredentialStore/load()``.
    @concurrent public func load() async throws -> CredentialRecord? {
        guard let opened = try folder.open() else { return lost.withLock { $0?.record } }
        return try read(in: opened)?.record
    }

    /// Runs `body` while no other update is inside, on no actor of the caller's; see ``CredentialStore/update(_:)``.
    @discardableResult
    @concurrent public func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await mutex.withLock { lock in
            let old = try read(in: lock.folder)
            // What another process has put there is newer.
            lost.withLock { lost in if lost != old { lost = nil } }
            // The body must not send what could not be saved. A full disk still lets a record be removed.
            var next: CredentialFolder.NextRecord?
            var obstacle: CredentialStoreError?
            do {
                next = try folder.openNextRecord(in: lock.folder)
                obstacle = next?.lackOfRoom.map { folder.cannotSave($0) }
            } catch {
                obstacle = folder.cannotSave(error)
                if folder.isLackOfDescriptors(error) { throw folder.cannotSave(error) }
            }
            defer {
                if next != nil { try? lock.whileHeld { folder.removeNextRecord(in: lock.folder) } }
            }
            let change = try await SavingObstacle.$current.withValue(obstacle) { try await body(old?.record) }
            guard let new = StoredRecord.applying(change, to: old) else { return old?.record }
            do {
                try write(new, by: next, with: lock)
                next = nil
            } catch {
                if !folder.isPresent(lock.folder) { lost.withLock { $0 = old } }
                throw error
            }
            return new.record
        }
    }

    /// Removes the record, after ``CredentialStoreError/isUnreadable``, so that the user can sign in again.
    ///
    /// An update that is inside is waited for, in whichever process it is.
    ///
    /// **Cancellation** A cancelled task that waits throws `CancellationError`, and removes nothing.
    ///
    /// **Failure** ``CredentialStoreError``: `busy` after the wait limit; `insecure`, for the folder; `superseded` if the
    /// lock was lost; `unavailable` if the disk refuses. A folder in the place of the record, or a file in the place of
    /// the folder, is left for a person to remove.
    @concurrent public func reset() async throws { try await reset(evenIfReadable: true) }

    package func reset(evenIfReadable: Bool) async throws {
        try await mutex.withLock { lock in
            let old = Result { try read(in: lock.folder) }
            if case .success = old, !evenIfReadable { return }
            try write(.removing((try? old.get()) ?? .first), with: lock)
        }
    }

    private func read(in opened: borrowing FileDescriptor) throws -> StoredRecord? {
        guard let data = try folder.record(in: opened) else { return lost.withLock { $0 } }
        return try coder.record(from: data)
    }

    private func write(
        _ record: StoredRecord,
        by next: CredentialFolder.NextRecord? = nil,
        with lock: FolderLock
    ) throws {
        let data = try coder.data(of: record)
        guard folder.isPresent(lock.folder) else { throw folder.removed }
        try lock.whileHeld {
            do {
                try folder.replaceRecord(with: data, by: next, in: lock.folder)
            } catch  where record.credential == nil {
                // A full disk has no room for the version. Without a record it goes on by the time.
                guard (try? folder.removeRecord(in: lock.folder)) != nil else { throw error }
            }
        }
        lost.withLock { $0 = nil }
    }
}

extension FileCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credential is; never a secret.
    public var description: String { "FileCredentialStore(\(folder.place))" }

    /// A mirror without seal and credential: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["folder": folder.place], displayStyle: .class) }
}
