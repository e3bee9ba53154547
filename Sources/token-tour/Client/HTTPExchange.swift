import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request and its reply, each time on a `URLSession` of its own.
///
/// A session that lives for one exchange has no cookies, no cache and no connection that could die
/// between two requests. Nothing here can be cancelled: a token request that was sent has spent its
/// refresh token, and its reply is the only place where the next one is.
enum HTTPExchange {
    /// Seconds without a byte after which an exchange fails.
    private static let idleLimit = 10.0

    static func send(
        _ request: URLRequest,
        then handler: @escaping @Sendable (Result<HTTPReply, any Error>) -> Void
    ) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = idleLimit
        let session = URLSession(
            configuration: configuration,
            delegate: HTTPExchangeDelegate(handler),
            delegateQueue: nil
        )
        session.dataTask(with: request).resume()
        // The session keeps its delegate until the task is done, and lets go of it then.
        session.finishTasksAndInvalidate()
    }

    static func send(_ request: URLRequest) async throws -> HTTPReply {
        try await withCheckedThrowingContinuation { continuation in
            send(request) { continuation.resume(with: $0) }
        }
    }
}
