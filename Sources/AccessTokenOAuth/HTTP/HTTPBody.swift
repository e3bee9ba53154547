import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a reply as it comes in.
struct HTTPBody: Sendable {
    /// Where it goes.
    enum Destination: Sendable {
        /// To memory, and up to so many bytes.
        case memory(limit: Int)
        /// To a file, however long it is.
        case file
    }

    /// There is more than the limit allows.
    struct TooLong: Error {}

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
            guard more.count <= limit - data.count else { throw TooLong() }
            data.append(more)
        case .file:
            try makeFile().append(more)
        }
    }

    /// Says before the body is there whether so many bytes would be too many.
    func accepts(_ count: Int64) -> Bool {
        guard case .memory(let limit) = destination else { return true }
        return count <= Int64(limit)
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
