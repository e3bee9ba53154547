import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A reply; its body is in memory or in a file.
struct HTTPReply: Sendable {
    let response: HTTPURLResponse
    var body = Data()
    var file: TemporaryFile?
    /// Why the body is not here, or not whole.
    var failure: (any Error)?
}

/// The body of a reply as it comes in.
struct HTTPBody: Sendable {
    /// Where it goes.
    enum Destination: Sendable {
        /// To memory, and up to so many bytes.
        case memory(limit: Int)
        /// To a file, however long it is.
        case file
    }

    /// There are more bytes than the limit allows.
    struct TooLong: Error {
        let limit: Int
    }

    private let destination: Destination
    private(set) var data = Data()
    private(set) var file: TemporaryFile?

    init(to destination: Destination) {
        self.destination = destination
    }

    /// - Throws: ``TooLong``, or what the file system says.
    mutating func append(_ more: Data) throws {
        switch destination {
        case .memory(let limit):
            guard more.count <= limit - data.count else { throw TooLong(limit: limit) }
            data.append(more)
        case .file:
            try makeFile().append(more)
        }
    }

    /// Says before the body is there that so many bytes would be too many.
    func refusal(of count: Int64) -> TooLong? {
        guard case .memory(let limit) = destination, count > Int64(limit) else { return nil }
        return TooLong(limit: limit)
    }

    /// The reply whose body this is; one that goes to a file has one, also if there was nothing to write.
    mutating func reply(with response: HTTPURLResponse) throws -> HTTPReply {
        if case .file = destination { try makeFile().close() }
        return HTTPReply(response: response, body: data, file: file)
    }

    private mutating func makeFile() throws -> TemporaryFile {
        if let file { return file }
        let file = try TemporaryFile()
        self.file = file
        return file
    }
}

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
