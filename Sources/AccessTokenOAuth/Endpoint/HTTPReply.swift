import Foundation

/// What the client looks at of a whole reply.
///
/// The media type is not looked at: servers get it wrong.
struct HTTPReply: Sendable {
    let status: Int
    var retryAfter: String?
    var body = Data()
}
