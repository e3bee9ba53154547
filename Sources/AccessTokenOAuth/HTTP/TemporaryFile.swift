import AccessTokenCore
import Foundation

/// A new file that only this user can read, and that is gone with the last reference to it unless it was given away.
final class TemporaryFile: Sendable {
    let url: URL
    private let handle: FileHandle
    private let isGivenAway = Locked(false)

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
        // What was asked for with a token is not for everybody.
        let isThere = FileManager.default.createFile(
            atPath: url.path(percentEncoded: false),
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        guard isThere else { throw CocoaError(.fileWriteUnknown, userInfo: [NSURLErrorKey: url]) }
        handle = try FileHandle(forWritingTo: url)
    }

    deinit {
        try? handle.close()
        if !isGivenAway.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
    }

    func append(_ data: Data) throws {
        try handle.write(contentsOf: data)
    }

    func close() throws {
        try handle.close()
    }

    /// The file, for somebody who removes it himself.
    func giveAway() -> URL {
        isGivenAway.withLock { $0 = true }
        return url
    }
}
