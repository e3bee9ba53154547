import Foundation

/// The folder of a file store: what is in it, and who may.
///
/// The folder has mode 0700, and each file in it 0600. Whatever is not a folder or a file of this user, or can be used
/// by others, is refused; so is a folder that others may rename, since they may write to the folder above.
struct CredentialFolder: Sendable {
    static let recordName = "credential.json"
    /// The holder of the lock alone has a file of that name; one that was there before is what a killed process left.
    static let temporaryName = "credential.new"
    /// No credential is as long as this many bytes.
    static let longestRecord = 16_777_216
    /// Bytes that are set aside for the next record, beside twice the present one.
    ///
    /// A reply may have 1 MiB, of which a record has the tokens. A token of 64 KiB is longer than any header field
    /// takes, so that two of them fit. A disk that is small is not asked for more.
    static let room = 131_072

    /// Without a slash at the end, which would follow a symbolic link; `nil` if the URL is none of a folder here.
    private let path: String?
    let recordPlace: String
    let place: String

    init(_ url: URL) {
        var path = unsafe url.withUnsafeFileSystemRepresentation { unsafe $0.map { unsafe String(cString: $0) } }
        while let last = path?.last, last == "/", path?.count != 1 { path?.removeLast() }
        self.path = url.isFileURL ? path : nil
        place = self.path ?? url.absoluteString
        recordPlace = "\(place)/\(Self.recordName)"
    }

    /// The place in one spelling, however the path is written: stores of one folder share what they know of its
    /// credential.
    ///
    /// What is not there yet stays as it is written, behind the folders that are there.
    var resolvedPlace: String {
        var (path, missing) = (place[...], "")
        while let slash = path.lastIndex(of: "/") {
            if let resolved = unsafe realpath(String(path), nil) {
                defer { unsafe free(resolved) }
                return unsafe String(cString: resolved) + missing
            }
            (path, missing) = (path[..<slash], path[slash...] + missing)
        }
        return place
    }

    // MARK: The folder

    /// The folder; `nil` if there is none.
    func open() throws -> FileDescriptor? {
        guard let path else {
            throw CredentialStoreError.unavailable(
                at: place,
                "the URL is none of a folder on this machine; use URL(fileURLWithPath:)"
            )
        }
        guard let folder = try open(path, O_RDONLY | O_DIRECTORY, as: .folder, at: place) else { return nil }
        try requireSafeParent(of: folder)
        return folder
    }

    /// Refuses a folder in one to which others may write: they could put an earlier state of it in its place.
    private func requireSafeParent(of folder: borrowing FileDescriptor) throws {
        guard let parent = FileStatus.of("..", in: folder.number), parent.lendsEntriesToOthers else { return }
        let octal = String(parent.permissions, radix: 8)
        throw CredentialStoreError.insecure(
            at: URL(fileURLWithPath: resolvedPlace).deletingLastPathComponent().path,
            "other users may rename or replace what is in it (mode \(octal), group \(parent.group)); "
                + "run chmod go-w on it, or keep the credential in another folder"
        )
    }

    /// The folder, which is made if there is none.
    func openOrMake() throws -> FileDescriptor {
        // Another process may make it, or remove it again, at the same time.
        for _ in 0..<8 {
            if let folder = try open() { return folder }
            if let path { try make(path) }
        }
        throw CredentialStoreError.unavailable(at: place, "the folder is removed as soon as it is made")
    }

    private func make(_ path: String) throws {
        if unsafe mkdir(path, 0o700) != 0 {
            let failure = SystemCallFailure("mkdir")
            guard failure.code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
                if failure.code == EEXIST { return }
                throw error(for: failure, at: place)
            }
            try make(String(path[..<slash]))
            guard unsafe mkdir(path, 0o700) == 0 else {
                if errno == EEXIST { return }
                throw error(for: SystemCallFailure("mkdir"), at: place)
            }
        }
        // A umask may have taken rights away from the owner.
        _ = unsafe chmod(path, 0o700)
        if path == self.path { excludeFromBackup() }
        // The entry in the parent has to last as well, as far as the parent can be opened.
        try? FileDescriptor.open("\(path)/..", O_RDONLY | O_DIRECTORY).flush()
    }

    // MARK: Its files

    /// What the record's file holds; `nil` if there is none.
    func record(in folder: borrowing FileDescriptor) throws -> Data? {
        guard let file = try open(Self.recordName, O_RDONLY, in: folder.number, as: .file, at: recordPlace) else {
            return nil
        }
        do {
            if let data = try file.contents(limit: Self.longestRecord) { return data }
        } catch {
            throw self.error(for: error, at: recordPlace)
        }
        throw CredentialStoreError.unreadable(at: recordPlace, "it has more than 16 MiB")
    }

    /// Makes sure of the right to write, without which an exchange would bring what cannot be saved.
    func requireWritable(_ folder: borrowing FileDescriptor) throws {
        guard unsafe faccessat(folder.number, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw CredentialStoreError.unavailable(
                at: place,
                "nothing can be saved in the folder, which needs mode 700 on a disk that is not read-only "
                    + "(\(SystemCallFailure("access")))",
                needsRepair: true
            )
        }
    }

    /// The file that becomes the next record, opened before there is one.
    ///
    /// Whoever has it needs no further descriptor to save what an exchange brings, and no further room.
    final class NextRecord: Sendable {
        fileprivate let file: FileDescriptor
        /// Why there is no room for what an exchange may bring; what is known already may fit all the same.
        let lackOfRoom: SystemCallFailure?

        fileprivate init(_ file: consuming FileDescriptor, lacking lackOfRoom: SystemCallFailure?) {
            self.file = file
            self.lackOfRoom = lackOfRoom
        }
    }

    /// Opens the next record, and sets room aside for it.
    func openNextRecord(in folder: borrowing FileDescriptor) throws -> NextRecord {
        _ = unsafe unlinkat(folder.number, Self.temporaryName, 0)
        guard FileStatus.of(Self.temporaryName, in: folder.number)?.kind != .folder else {
            let what = "it is a folder, where the next record is written first; remove it"
            throw CredentialStoreError.unavailable(at: "\(place)/\(Self.temporaryName)", what, needsRepair: true)
        }
        // A file is made in the class of its folder: by the strictest one, none can be while the device is locked.
        try? protect(".")
        let file = try FileDescriptor.open(Self.temporaryName, O_WRONLY | O_CREAT | O_EXCL, in: folder.number)
        do {
            // A umask may have taken rights away from the owner.
            guard fchmod(file.number, 0o600) == 0 else { throw SystemCallFailure("fchmod") }
            try protect(Self.temporaryName)
        } catch {
            removeNextRecord(in: folder)
            throw error
        }
        let present = FileStatus.of(Self.recordName, in: folder.number)?.size ?? 0
        do {
            try file.reserve(Self.room + 2 * min(present, Self.longestRecord))
            return NextRecord(file, lacking: nil)
        } catch {
            return NextRecord(file, lacking: error)
        }
    }

    /// Removes a next record that was not written.
    func removeNextRecord(in folder: borrowing FileDescriptor) {
        _ = unsafe unlinkat(folder.number, Self.temporaryName, 0)
    }

    /// Whether the process, or the system, has no descriptor left.
    func isLackOfDescriptors(_ error: any Error) -> Bool {
        (error as? SystemCallFailure).map { [EMFILE, ENFILE].contains($0.code) } ?? false
    }

    /// What callers are told of an error that keeps the next record from being saved.
    func cannotSave(_ error: any Error) -> CredentialStoreError {
        if let error = error as? CredentialStoreError { return error }
        let needsRepair = (error as? SystemCallFailure)?.needsRepair == true
        return .unavailable(at: recordPlace, "\(error)", needsRepair: needsRepair)
    }

    /// Puts a record in the place of the present one: after a power cut there is the one or the other, and whole.
    func replaceRecord(with data: Data, by next: NextRecord?, in folder: borrowing FileDescriptor) throws {
        let temporaryName = Self.temporaryName
        guard data.count <= Self.longestRecord else {
            throw CredentialStoreError.unavailable(
                at: recordPlace,
                "the record is longer than the 16 MiB that can be read again, and was not written"
            )
        }
        do {
            let next = try next ?? openNextRecord(in: folder)
            try next.file.append(data)
            try next.file.truncate(to: data.count)
            try next.file.flush()
            guard unsafe renameat(folder.number, temporaryName, folder.number, Self.recordName) == 0 else {
                throw SystemCallFailure("rename")
            }
            try folder.flush()
        } catch {
            _ = unsafe unlinkat(folder.number, temporaryName, 0)
            throw cannotSave(error)
        }
    }

    /// Removes the record, which needs no room on the disk.
    func removeRecord(in folder: borrowing FileDescriptor) throws {
        guard unsafe unlinkat(folder.number, Self.recordName, 0) == 0 else { throw SystemCallFailure("unlink") }
        try folder.flush()
    }

    /// Whether the folder that was opened is the one that the path leads to now.
    func isPresent(_ folder: borrowing FileDescriptor) -> Bool {
        guard let path, let present = FileStatus.of(path), let opened = try? folder.status() else { return false }
        return present.identity == opened.identity
    }

    /// What an update throws that finds another folder at the path, or none.
    var removed: CredentialStoreError {
        .unavailable(at: place, "the folder was removed or replaced while in use")
    }

    // MARK: Who may

    /// Opens what is of the right kind, and of this user alone; `nil` if there is nothing of that name.
    private func open(
        _ name: String,
        _ flags: Int32,
        in folder: Int32 = AT_FDCWD,
        as kind: FileStatus.Kind,
        at place: String
    ) throws -> FileDescriptor? {
        do {
            let opened = try FileDescriptor.open(name, flags, in: folder)
            let status = try opened.status()
            guard status.kind == kind else { throw CredentialStoreError.unreadable(at: place, "it is no \(kind)") }
            guard status.owner == geteuid() else {
                let owner = "it belongs to user \(status.owner), and this process runs as \(geteuid())"
                throw CredentialStoreError.insecure(at: place, owner)
            }
            guard status.permissions & 0o077 == 0 else {
                let octal = String(status.permissions, radix: 8)
                let others = "other users have rights to it (mode \(octal)); "
                let repair = "run chmod \(kind == .folder ? 700 : 600) on it"
                throw CredentialStoreError.insecure(at: place, others + repair)
            }
            return opened
        } catch let failure as SystemCallFailure {
            if failure.code == ENOENT { return nil }
            let present = FileStatus.of(name, in: folder)?.kind
            if present == .symbolicLink {
                throw CredentialStoreError.insecure(at: place, "it is a symbolic link, which is not followed")
            }
            if kind == .folder, present == .file || present == .other {
                throw CredentialStoreError.unreadable(at: place, "it is no folder")
            }
            throw error(for: failure, at: present == nil ? self.place : place)
        }
    }

    private func error(for failure: SystemCallFailure, at place: String) -> CredentialStoreError {
        .unavailable(at: place, "\(failure)", needsRepair: failure.needsRepair)
    }

    // MARK: Apple platforms

    /// A backup that is restored on a second device would put one refresh token on two.
    private func excludeFromBackup() {
        #if canImport(Darwin)
        var url = URL(fileURLWithPath: place, isDirectory: true)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? url.setResourceValues(values)
        #endif
    }

    /// Before the first byte: after the first unlock the record can be read while the device is locked, and not before.
    private func protect(_ name: String) throws {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: "\(place)/\(name)"
        )
        #endif
    }
}
