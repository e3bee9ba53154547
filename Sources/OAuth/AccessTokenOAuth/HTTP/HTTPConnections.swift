#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The connections of one module, with its configuration.
///
/// On Apple platforms they are kept for the next exchange. On Linux each exchange has a session and a connection of its
/// own: one that is used again, and that dies as the second request goes out, has it sent again without its body, and
/// then waits for an answer that never comes.
final class HTTPConnections: Sendable {
    /// Seconds that an exchange takes at most.
    let timeLimit: TimeInterval

    #if canImport(FoundationNetworking)
    private let configuration: URLSessionConfiguration
    private let gate: ConnectionGate

    /// - Parameter configuration: is copied.
    init(_ configuration: URLSessionConfiguration) {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        // A look into the cache first makes room for a race with whatever ends the request, and what is asked for
        // with a token is never in it.
        own.urlCache = nil
        own.timeoutIntervalForRequest = Self.wholeSeconds(own.timeoutIntervalForRequest)
        self.configuration = own
        timeLimit = own.timeoutIntervalForResource
        gate = ConnectionGate(limit: own.httpMaximumConnectionsPerHost)
    }

    /// Calls back as soon as the host of a request can have one more connection.
    func whenFree(for request: URLRequest, _ body: @escaping @Sendable (ConnectionGate.Place?) -> Void) {
        gate.enter(request.url.flatMap { WebOrigin(of: $0) }?.description ?? "", then: body)
    }

    /// - Throws: what the file system says about a file that is to be sent.
    func start(
        _ request: URLRequest,
        uploading upload: HTTPUpload,
        reportingTo exchange: HTTPExchange
    ) throws -> URLSessionTask {
        var request = request
        let seconds = Self.wholeSeconds(request.timeoutInterval)
        // To set what it is already would be to overrule the configuration.
        if seconds != request.timeoutInterval { request.timeoutInterval = seconds }
        let body: Data? =
            switch upload {
            case .ofRequest: nil
            case .data(let data): data
            // URLSession would read on by itself, and crash if the connection is gone when the next piece is there.
            case .file(let url): try Data(contentsOf: url, options: .mappedIfSafe)
            }
        let session = URLSession(configuration: configuration, delegate: exchange, delegateQueue: nil)
        let task = body.map { session.uploadTask(with: request, from: $0) } ?? session.dataTask(with: request)
        task.resume()
        // The session keeps its delegate until the task is done, and lets go of it then.
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

    /// - Parameter configuration: is copied.
    init(_ configuration: URLSessionConfiguration) {
        session = URLSession(configuration: configuration)
        timeLimit = configuration.timeoutIntervalForResource
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Calls back at once: the session itself counts its connections.
    func whenFree(for request: URLRequest, _ body: @escaping @Sendable (ConnectionGate.Place?) -> Void) {
        body(nil)
    }

    func start(
        _ request: URLRequest,
        uploading upload: HTTPUpload,
        reportingTo exchange: HTTPExchange
    ) throws -> URLSessionTask {
        let task: URLSessionTask =
            switch upload {
            case .ofRequest: session.dataTask(with: request)
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url): session.uploadTask(with: request, fromFile: url)
            }
        task.delegate = exchange
        exchange.delegate?.urlSession?(session, didCreateTask: task)
        task.resume()
        return task
    }
    #endif
}

/// Answers a challenge of a connection, such as the question whether to trust a server's certificate.
///
/// It is called on any thread, and must not block.
public typealias URLAuthenticationChallengeHandler =
    @Sendable (URLAuthenticationChallenge) -> (
        URLSession.AuthChallengeDisposition, URLCredential?
    )

/// What a request's body is taken from.
enum HTTPUpload: Hashable, Sendable {
    /// The request itself: its data, its stream, or nothing.
    case ofRequest
    case data(Data)
    case file(URL)
}

extension URLSessionConfiguration {
    /// A configuration that keeps nothing between two requests: no cookies, no cache, no passwords.
    ///
    /// A new one each time; change of it what has to be different. On Linux it allows 32 connections to a host at once,
    /// since each request has one of its own there, which stays open for that request only.
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
