import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request and its reply, each time on a `URLSession` of its own.
///
/// A session that lives for one exchange has no cookies, no cache, and no connection that could die between two
/// requests, which on Linux sends the second one without its body. Nothing here can be cancelled: on Linux that can
/// crash the process while the connection is refused, and a request that was sent may have spent its refresh token, so
/// that its reply is the only place where the next one is.
enum HTTPExchange {
    /// - Parameters:
    ///   - idleLimit: seconds without a byte after which the exchange fails.
    ///   - handler: called once, on a queue of the session's.
    static func send(
        _ request: URLRequest,
        idleLimit: TimeInterval,
        then handler: @escaping @Sendable (Result<HTTPReply, OAuthError>) -> Void
    ) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
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
}
