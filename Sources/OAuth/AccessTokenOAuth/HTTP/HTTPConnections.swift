#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The connections of one endpoint or session, with its configuration.
///
/// On Apple platforms connections are kept for the next exchange. On Linux each exchange has a session and a connection
/// of its own: a kept connection that dies as the second request goes out has that request sent again without its body,
/// and the reply never comes.
final class HTTPConnections: Sendable {
    /// Seconds that an exchange takes at most.
    let timeLimit: TimeInterval
    /// Where an exchange waits until one more connection can be open.
    let gate: ConnectionGate

    #if canImport(FoundationNetworking)
    let configuration: URLSessionConfiguration

    /// - Parameters:
    ///   - configuration: is copied.
    ///   - timeLimit: `nil` is the configuration's `timeoutIntervalForResource`.
    init(_ configuration: URLSessionConfiguration, timeLimit: TimeInterval? = nil) {
        let own = Self.withoutCache(configuration)
        own.timeoutIntervalForRequest = Self.wholeSeconds(own.timeoutIntervalForRequest)
        self.configuration = own
        self.timeLimit = timeLimit ?? own.timeoutIntervalForResource
        gate = ConnectionGate(limit: own.httpMaximumConnectionsPerHost)
    }

    func start(_ request: URLRequest, reportingTo exchange: HTTPExchange) -> URLSessionTask {
        var request = request
        let seconds = Self.wholeSeconds(request.timeoutInterval)
        // Setting the same value again would overrule the configuration.
        if seconds != request.timeoutInterval { request.timeoutInterval = seconds }
        let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
        let task = session.dataTask(with: request)
        task.resume()
        // The session keeps its delegate until the task is done.
        session.finishTasksAndInvalidate()
        return task
    }

    /// Part of a second counts as nothing, which is over at once, and what is no number ends the process.
    private static func wholeSeconds(_ seconds: TimeInterval) -> TimeInterval {
        guard seconds < 1_000_000_000 else { return 1_000_000_000 }
        return max(1, seconds.rounded(.up))
    }
    #else
    private let session: URLSession
    var configuration: URLSessionConfiguration { session.configuration }

    /// - Parameters:
    ///   - configuration: is copied.
    ///   - timeLimit: `nil` is the configuration's `timeoutIntervalForResource`.
    init(_ configuration: URLSessionConfiguration, timeLimit: TimeInterval? = nil) {
        session = URLSession(configuration: Self.withoutCache(configuration))
        self.timeLimit = timeLimit ?? configuration.timeoutIntervalForResource
        // The session itself counts its connections.
        gate = ConnectionGate(limit: .max)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    func start(_ request: URLRequest, reportingTo exchange: HTTPExchange) -> URLSessionTask {
        let task = session.dataTask(with: request)
        task.delegate = exchange
        task.resume()
        return task
    }
    #endif

    /// A cache would answer the next user with what the former one has read, whatever the token of the request.
    ///
    /// On Linux, looking into it first can also race with what ends the request.
    private static func withoutCache(_ configuration: URLSessionConfiguration) -> URLSessionConfiguration {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        own.urlCache = nil
        return own
    }
}

/// Answers a challenge of a connection, such as the question whether to trust a server's certificate.
///
/// It is called on any thread, and must not block.
public typealias URLAuthenticationChallengeHandler =
    @Sendable (URLAuthenticationChallenge) -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )

extension URLSessionConfiguration {
    /// A configuration that keeps nothing between two requests: no cookies, no cache, no passwords.
    ///
    /// A new one each time; change of it what has to be different. On Linux it allows 32 open connections, since each
    /// request has a connection of its own there.
    public static var keepingNothing: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.keepNothing()
        #if canImport(FoundationNetworking)
        configuration.httpMaximumConnectionsPerHost = 32
        #endif
        return configuration
    }

    func keepNothing() {
        urlCache = nil
        requestCachePolicy = .reloadIgnoringLocalCacheData
        httpCookieStorage = nil
        httpShouldSetCookies = false
        urlCredentialStorage = nil
    }
}
