import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the client looks at of a whole reply.
///
/// The media type is not looked at: servers get it wrong.
struct EndpointReply: Sendable {
    let status: Int
    var retryAfter: String?
    var body = Data()
}

extension EndpointReply {
    init(_ reply: HTTPReply) {
        self.init(
            status: reply.response.statusCode,
            retryAfter: reply.response.value(forHTTPHeaderField: "Retry-After"),
            body: reply.body
        )
    }
}
