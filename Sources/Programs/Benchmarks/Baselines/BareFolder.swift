import AccessTokenOAuth
import Foundation

/// The JSON that stores write.
struct BareRecord: Codable {
    var format = 1
    var version = 1
    var credential = StoreRows.credential
}

/// The calls of the system that a credential in a folder needs, and the JSON of it.
struct BareFolder: Sendable {
    struct Failure: Error { let call: String }

    let path: String

    private var record: String { "\(path)/credential.json" }

    private func load() throws {
        let file = try descriptor(record, O_RDONLY)
        defer { close(file) }
        var bytes = Data(count: 4_096)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        _ = try JSONDecoder().decode(BareRecord.self, from: bytes.prefix(count))
    }

    func replace() throws {
        let folder = try descriptor(path, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else { throw Failure(call: "flock") }
        try load()
        let data = try JSONEncoder().encode(BareRecord())
        let new = try descriptor("\(path)/credential.bare", O_WRONLY | O_CREAT | O_EXCL)
        defer { close(new) }
        guard unsafe data.withUnsafeBytes({ unsafe write(new, $0.baseAddress, $0.count) }) == data.count,
            fsync(new) == 0, unsafe rename("\(path)/credential.bare", record) == 0, fsync(folder) == 0
        else { throw Failure(call: "write") }
    }

    private func descriptor(_ path: String, _ flags: Int32) throws -> Int32 {
        let number = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Failure(call: "open \(path)") }
        return number
    }
}
