import AccessTokenCore
public import AccessTokenGCD
public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a token, for callback code, in the shape of `URLSession`.
///
/// All that is said of ``AsyncBearerSession`` is true here, and sessions of both worlds can share one service.
///
/// ```swift
/// let session = BearerSession(tokens: service, origins: [apiURL], queue: .main)
/// session.dataTask(with: apiURL.appending(path: "friends")) { data, response, error in … }.resume()
/// ```
///
/// **Concurrency** Can be used from any thread. Handlers are called one at a time, never before `resume()` or `cancel()`
/// has returned to code on the queue given, on a serial queue that targets it.
///
/// **Cancellation** ``BearerSessionTask/cancel()`` answers at once with `URLError.cancelled`.
///
/// **Failure** What the service or `URLSession` answers, unchanged; ``BearerSessionError``. A status is no error. Each
/// handler is called once with an error, or with a reply; dropping session and task does not keep it from that.
public final class BearerSession: Sendable {
    private let tokens: any AccessTokenProviding
    private let rules: BearerRules
    private let connections: HTTPConnections
    private let delivery: DispatchQueue

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - tokens: the service, or a view of one.
    ///   - origins: where the token may go; of each URL only scheme, host and port count.
    ///   - configuration: the session's own, not for the background; it is copied. `timeoutIntervalForRequest` and
    ///     `timeoutIntervalForResource` count for each attempt by itself, and not while a token is waited for.
    ///   - queue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    ///   - allowsInsecureHTTP: whether the token may go to such an origin by plain `http`; on this machine it always may.
    public init(
        tokens: any AccessTokenProviding,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        queue: DispatchQueue = .global(),
        allowsInsecureHTTP: Bool = false
    ) {
        self.tokens = tokens
        rules = BearerRules(origins: origins, allowsInsecureHTTP: allowsInsecureHTTP, configuration: configuration)
        connections = HTTPConnections(configuration)
        delivery = DispatchQueue(label: "BearerSession.delivery", target: queue)
    }

    /// A task for the reply to a request, its body in memory.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .ofRequest, .memory(limit: .max)) { reply, error in
            completionHandler(reply?.body, reply?.response, error)
        }
    }

    /// A task for what is at a URL, in memory.
    public func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task for the reply to a request with this body.
    public func uploadTask(
        with request: URLRequest,
        from bodyData: Data?,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .data(bodyData ?? Data()), .memory(limit: .max)) { reply, error in
            completionHandler(reply?.body, reply?.response, error)
        }
    }

    /// A task for the reply to a request whose body is in a file.
    public func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .file(fileURL), .memory(limit: .max)) { reply, error in
            completionHandler(reply?.body, reply?.response, error)
        }
    }

    /// A task for the reply to a request, its body in a file that is gone when the handler has returned.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .ofRequest, .file) { reply, error in
            withExtendedLifetime(reply?.file) { file in
                completionHandler(file?.url, reply?.response, error)
            }
        }
    }

    /// A task for what is at a URL, in a file that is gone when the handler has returned.
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    private func task(
        for request: URLRequest,
        _ upload: HTTPUpload,
        _ destination: HTTPBody.Destination,
        then handler: @escaping @Sendable (HTTPReply?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        BearerSessionTask(
            BearerStateMachine(request, uploading: upload, by: rules),
            to: destination,
            tokens: tokens,
            connections: connections
        ) { [delivery] result in
            delivery.async {
                switch result {
                case .success(let reply): handler(reply, nil)
                case .failure(let error): handler(nil, error)
                }
            }
        }
    }
}
