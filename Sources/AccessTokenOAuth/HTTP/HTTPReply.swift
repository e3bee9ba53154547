import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A whole reply; its body is in memory or in a file.
struct HTTPReply: Sendable {
    let response: HTTPURLResponse
    var body = Data()
    var file: TemporaryFile?
}
