import Foundation

/// An open file or folder, which no child process inherits, and which is closed with the last use of this value.
struct FileDescriptor: ~Copyable, Sendable {
    let number: Int32

    private init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = close(number)
    }

    /// Opens a file, by its path or by its name in an open `folder`, and never what a symbolic link leads to.
    static func open(
        _ name: String,
        _ flags: Int32,
        in folder: Int32 = AT_FDCWD
    ) throws(SystemCallFailure) -> FileDescriptor {
        while true {
            // A queue or a device of that name would hold the thread if it could.
            let number = unsafe openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            if number >= 0 { return FileDescriptor(number) }
            guard errno == EINTR else { throw SystemCallFailure("open") }
        }
    }

    func status() throws(SystemCallFailure) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemCallFailure("fstat") }
        return FileStatus(status)
    }

    /// All that is in the file, or `nil` if it is longer than `limit` bytes.
    func contents(limit: Int) throws(SystemCallFailure) -> Data? {
        let size = try status().size
        // One byte more than expected: the first call tells that there is no more.
        var bytes = Data(count: min(max(0, size), limit) + 1)
        var count = 0
        while true {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(number, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if got < 0 {
                guard errno == EINTR else { throw SystemCallFailure("read") }
                continue
            }
            count += got
            guard count <= limit else { return nil }
            if got == 0 || count < bytes.count { return bytes.prefix(count) }
            bytes.count += 65_536
        }
    }

    func append(_ bytes: Data) throws(SystemCallFailure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw SystemCallFailure("write")
            }
        }
    }

    /// Sets room on the disk aside for so many bytes at the beginning; the file may become that long.
    ///
    /// A file system that can set nothing aside is no failure.
    func reserve(_ count: Int) throws(SystemCallFailure) {
        while true {
            #if canImport(Darwin)
            let call = "fcntl"
            var room = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL),
                fst_posmode: F_PEOFPOSMODE,
                fst_offset: 0,
                fst_length: off_t(count),
                fst_bytesalloc: 0
            )
            let code = unsafe fcntl(number, F_PREALLOCATE, &room) == -1 ? errno : 0
            #else
            let call = "posix_fallocate"
            let code = posix_fallocate(number, 0, off_t(count))
            #endif
            // The last two are of systems that do not let a process call it.
            if [0, EOPNOTSUPP, ENOTSUP, EINVAL, ENOSYS, EPERM].contains(code) { return }
            guard code == EINTR else { throw SystemCallFailure(call, code) }
        }
    }

    /// Gives back what was set aside behind the first bytes.
    func truncate(to count: Int) throws(SystemCallFailure) {
        while ftruncate(number, off_t(count)) != 0 {
            guard errno == EINTR else { throw SystemCallFailure("ftruncate") }
        }
    }

    /// Returns when the bytes have reached the disk, as far as the system can tell.
    func flush() throws(SystemCallFailure) {
        #if canImport(Darwin)
        // There, fsync leaves the bytes in the disk's own cache. Not every file system has the stronger call.
        if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        while fsync(number) != 0 {
            guard errno == EINTR else { throw SystemCallFailure("fsync") }
        }
    }
}

/// What the system says of a file, as far as it matters here.
struct FileStatus: Sendable {
    enum Kind {
        case file, folder, symbolicLink, other
    }

    /// Tells whether two names or descriptors are one file.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    let identity: Identity
    let owner: UInt32
    let group: UInt32
    let permissions: UInt32
    let kind: Kind
    let size: Int

    init(_ status: stat) {
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
        owner = UInt32(status.st_uid)
        group = UInt32(status.st_gid)
        permissions = UInt32(status.st_mode) & 0o7777
        kind =
            switch UInt32(status.st_mode) & UInt32(S_IFMT) {
            case UInt32(S_IFREG): .file
            case UInt32(S_IFDIR): .folder
            case UInt32(S_IFLNK): .symbolicLink
            default: .other
            }
        size = Int(status.st_size)
    }

    /// Whether other users may rename or replace what is in this folder.
    ///
    /// Not those of the process's own group, which is often a private one; and with the sticky bit, as that of `/tmp`,
    /// only an owner may.
    var lendsEntriesToOthers: Bool {
        guard permissions & UInt32(S_ISVTX) == 0 else { return false }
        return permissions & 0o002 != 0 || permissions & 0o020 != 0 && group != getegid()
    }

    /// What a name stands for, without following a symbolic link; `nil` if there is nothing, or nothing to be seen.
    static func of(_ name: String, in folder: Int32 = AT_FDCWD) -> FileStatus? {
        var status = stat()
        guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileStatus(status)
    }
}

/// A call of the system that failed, with the system's words.
struct SystemCallFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    /// Takes the code of the last call that failed on this thread, unless the call has returned one.
    init(_ call: String, _ code: Int32 = errno) {
        self.code = code
        self.call = call
    }

    /// Whether it fails until a person changes permissions, or mounts the disk for writing.
    var needsRepair: Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        // There, EPERM is also what `open` says of a protected file until the device is unlocked for the first time. An
        // app that runs in the background before that has nothing to repair.
        [EACCES, EROFS].contains(code)
        #else
        [EACCES, EPERM, EROFS].contains(code)
        #endif
    }

    var description: String {
        "\(call): \(unsafe String(cString: strerror(code))) (errno \(code))"
    }
}
