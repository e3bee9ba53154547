public import Foundation

#if canImport(Security)
public import AccessTokenSynchronization
#endif

/// Keeps a credential in the keychain of an Apple platform, for an app and its extensions.
///
/// ```swift
/// let store = KeychainCredentialStore(
///     service: "com.example.app",
///     account: "session",
///     accessGroup: "TEAMID.com.example.shared",
///     lockFolder: appGroup.appendingPathComponent("session-lock")
/// )
/// ```
///
/// It is an item of the data protection keychain. The item can be read after the first unlock of the device, stays on
/// this device, and is not synchronized. On macOS, a program needs a provisioning profile to use this keychain; a
/// command-line tool uses ``FileCredentialStore``.
///
/// A keychain cannot be locked, so a file in `lockFolder` is; <doc:Distribution> says what happens to the lock when an
/// app is suspended, and what of this store **has not run yet**.
///
/// The item outlives the app: an app that is deleted and installed again finds the former credential. Call ``reset()``
/// at the first launch if you do not want that.
///
/// **Concurrency** As with a ``FileCredentialStore`` in `lockFolder`. Have one store for an item in a process.
///
/// **Failure** As of a ``FileCredentialStore``, and `unavailable` while the keychain refuses, as before the first
/// unlock. That is transient, unless the program lacks an entitlement.
public final class KeychainCredentialStore: PlacedCredentialStore {
    /// 2 seconds; unlimited where the system suspends apps; see ``CredentialStore/takeOverDelay``.
    public var takeOverDelay: TimeInterval { FolderLock.takeOverDelay }

    package var memoryName: String { place }

    private let place: String
    private let item: any KeychainItem
    private let coder: StoredRecordCoder
    private let mutex: FolderMutex

    init(_ item: some KeychainItem, place: String, seal: CredentialSeal?, mutex: FolderMutex) {
        self.item = item
        self.place = place
        coder = StoredRecordCoder(place: place, seal: seal)
        self.mutex = mutex
    }

    /// Two groups may have an item of the same name: then their loaders know nothing of each other.
    static func place(service: String, account: String, accessGroup: String?) -> String {
        "keychain item \(account) of \(service)" + (accessGroup.map { " in \($0)" } ?? "")
    }

    #if canImport(Security)
    /// Creates a store; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - service: the item's service, usually the identifier of the app.
    ///   - account: the item's account; one for each credential.
    ///   - accessGroup: the group of programs that share the item; `nil` is the program's own. Name it in each store of
    ///     an item, or in none: the loaders of a process know by this name that they share the item.
    ///   - lockFolder: what is locked, with nothing in it: one folder for each item. It is in a folder of the app
    ///     group if an extension shares the item. It is made if there is none.
    ///   - seal: keeps the credential unreadable in the keychain as well; `nil` leaves that to the keychain.
    ///   - waitLimit: seconds after which an update that waits gives up.
    ///   - clock: timers.
    public convenience init(
        service: String,
        account: String,
        accessGroup: String? = nil,
        lockFolder: URL,
        seal: CredentialSeal? = nil,
        waitLimit: TimeInterval = 120,
        clock: any AccessTokenClock = SystemClock()
    ) {
        self.init(
            SystemKeychainItem(service: service, account: account, accessGroup: accessGroup),
            place: Self.place(service: service, account: account, accessGroup: accessGroup),
            seal: seal,
            mutex: FolderMutex(CredentialFolder(lockFolder), waitLimit: waitLimit, clock: clock)
        )
    }
    #endif

    /// Reads the record; see ``CredentialStore/load()``.
    @concurrent public func load() async throws -> CredentialRecord? {
        try read()?.record
    }

    /// Runs `body` while no other update is inside; see ``CredentialStore/update(_:)``.
    @discardableResult
    @concurrent public func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        try await mutex.withLock { lock in
            let old = try read()
            guard let new = StoredRecord.applying(try await body(old?.record), to: old) else { return old?.record }
            try write(new, with: lock)
            return new.record
        }
    }

    /// Removes the credential, whether it can be understood or not.
    ///
    /// **Failure** Throws `unavailable` while the keychain refuses, and then has removed nothing.
    @concurrent public func reset() async throws { try await reset(evenIfReadable: true) }

    package func reset(evenIfReadable: Bool) async throws {
        try await mutex.withLock { lock in
            let old: StoredRecord?
            // What cannot be read at this moment must not be removed.
            do {
                old = try read()
                if !evenIfReadable { return }
            } catch let error as CredentialStoreError where error.isUnreadable { old = nil }
            try write(.removing(old), with: lock)
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
        let needsRepair = status == KeychainStatus.missingEntitlement
        return .unavailable(at: place, "\(words) (\(status))\(next)", needsRepair: needsRepair)
    }
}

extension KeychainCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credential is; never a secret.
    public var description: String { "KeychainCredentialStore(\(place))" }

    /// A mirror without seal and credential: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["place": place], displayStyle: .class) }
}
