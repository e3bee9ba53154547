package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// What the client looks at of a whole reply.
///
/// The media type is not looked at: servers get it wrong.
package struct EndpointReply: Sendable {
    package let status: Int
    var retryAfter: String?
    package var body = Data()

    private static let bodyLimit = 1 << 20

    /// Sends a request over a connection of its own, and reads a reply of up to a megabyte.
    ///
    /// - Parameters:
    ///   - idleLimit: seconds without a byte after which the exchange fails.
    ///   - handler: called once, on any thread.
    package static func reply(
        to request: URLRequest,
        idleLimit: TimeInterval,
        then handler: @escaping @Sendable (Result<EndpointReply, OAuthError>) -> Void
    ) {
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.timeoutIntervalForRequest = idleLimit
        HTTPExchange(request, to: .memory(limit: bodyLimit)).start(over: HTTPConnections(configuration)) { result in
            handler(result.map(EndpointReply.init).mapError(OAuthError.init(failedExchange:)))
        }
    }
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
