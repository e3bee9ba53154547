import AccessTokenCore
import Foundation

/// What `KeychainCredentialStore` does, for any item: a record in the item, and the lock of a folder around each update.
///
/// A keychain has no lock of its own that outlasts a call.
struct ItemCredentialStore: PlacedCredentialStore {
    var takeOverDelay: TimeInterval { FolderLock.takeOverDelay }
    var memoryName: String { place }

    let place: String
    private let item: any KeychainItem
    private let coder: StoredRecordCoder
    private let mutex: FolderMutex

    init(
        _ item: some KeychainItem,
        place: String,
        lockFolder: URL,
        seal: CredentialSeal?,
        waitLimit: TimeInterval,
        clock: any AccessTokenClock,
        activity: BackgroundActivity = .system
    ) {
        self.item = item
        self.place = place
        coder = StoredRecordCoder(place: place, seal: seal)
        mutex = FolderMutex(CredentialFolder(lockFolder), waitLimit: waitLimit, clock: clock, activity: activity)
    }

    @concurrent func load() async throws -> CredentialRecord? {
        try read()?.record
    }

    @discardableResult
    @concurrent func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await mutex.withLock { lock in
            let old = try read()
            guard let new = StoredRecord.applying(try await body(old?.record), to: old) else { return old?.record }
            try write(new, with: lock)
            return new.record
        }
    }

    @concurrent func reset() async throws {
        try await mutex.withLock { lock in
            let old: StoredRecord?
            // What cannot be read at this moment must not be removed.
            do { old = try read() } catch let error as CredentialStoreError where error.isUnreadable { old = nil }
            try write(StoredRecord(version: (old ?? .first).version, credential: nil), with: lock)
        }
    }

    private func read() throws -> StoredRecord? {
        let (data, status) = item.copy()
        if status == KeychainStatus.itemNotFound { return nil }
        guard status == KeychainStatus.success else { throw error(for: status) }
        guard let data else { throw CredentialStoreError.unreadable(at: place, "the item has no data") }
        return try coder.record(from: data)
    }

    private func write(_ record: StoredRecord, with lock: FolderLock) throws {
        let data = try coder.data(of: record)
        try lock.whileHeld {
            var status = item.update(data)
            if status == KeychainStatus.itemNotFound { status = item.add(data) }
            guard status == KeychainStatus.success else { throw error(for: status) }
        }
    }

    private func error(for status: Int32) -> CredentialStoreError {
        let words = item.words(for: status)
        let next =
            switch status {
            case KeychainStatus.interactionNotAllowed: "; the device was not unlocked since it started"
            case KeychainStatus.missingEntitlement:
                "; the program needs an entitlement to use the data protection keychain, and to use its access group"
            default: ""
            }
        return .unavailable(at: place, "\(words) (\(status))\(next)")
    }
}
