import AccessTokenCore
public import AccessTokenGCD
public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a token, for callback code, in the shape of `URLSession`.
///
/// All that is said of ``AsyncBearerSession`` is true here, and sessions of both kinds can share one service.
///
/// ```swift
/// let session = BearerSession(tokens: service, origins: [apiURL], handlerQueue: .main)
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
    private let bodyLimit: Int
    private let tasks = SessionTasks()
    private let handlerQueue: DispatchQueue

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - tokens: the service, or a view of one.
    ///   - origins: where the token may go; of each URL only scheme, host and port count.
    ///   - configuration: the session's own, not for the background; it is copied. `timeoutIntervalForRequest` and
    ///     `timeoutIntervalForResource` count for each attempt by itself, and not while a token is waited for.
    ///   - bodyLimit: bytes of a reply that are read into memory; more of them are an error,
    ///     ``BearerSessionError/bodyTooLong(limit:)``. A download has no limit.
    ///   - handlerQueue: where handlers are called; serial, concurrent or the main queue. The default is a global queue.
    ///   - allowsInsecureHTTP: whether the token may go to such an origin by plain `http`; on this machine it always may.
    public init(
        tokens: any AccessTokenProviding,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = AsyncBearerSession.usualBodyLimit,
        handlerQueue: DispatchQueue = .global(),
        allowsInsecureHTTP: Bool = false
    ) {
        self.tokens = tokens
        rules = BearerRules(origins: origins, allowsInsecureHTTP: allowsInsecureHTTP, configuration: configuration)
        connections = HTTPConnections(configuration)
        self.bodyLimit = max(0, bodyLimit)
        self.handlerQueue = DispatchQueue(label: "BearerSession.handlers", target: handlerQueue)
    }

    /// Cancels the session's tasks, and lets it take no more; other sessions and their loads go on.
    ///
    /// The handlers of its tasks, also of those that were not resumed yet, are called with `URLError.cancelled`. The
    /// handler of a later task is called with ``BearerSessionError/sessionInvalidated`` when that task is resumed.
    public func invalidateAndCancel() {
        tasks.invalidateAndCancel()
    }

    /// Lets the session take no more tasks; those that it has go on to their end, and can be resumed.
    public func finishTasksAndInvalidate() {
        tasks.invalidate()
    }

    /// A task for the reply to a request, its body in memory.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .ofRequest, .memory(limit: bodyLimit)) { reply, error in
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
        task(for: request, .data(bodyData ?? Data()), .memory(limit: bodyLimit)) { reply, error in
            completionHandler(reply?.body, reply?.response, error)
        }
    }

    /// A task for the reply to a request whose body is in a file.
    public func uploadTask(
        with request: URLRequest,
        fromFile fileURL: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> BearerSessionTask {
        task(for: request, .file(fileURL), .memory(limit: bodyLimit)) { reply, error in
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
        let registration = tasks.register()
        let task = BearerSessionTask(
            registration.map { _ in BearerStateMachine(request, uploading: upload, by: rules) },
            to: destination,
            tokens: tokens,
            connections: connections,
            registration: registration
        ) { [handlerQueue] result in
            handlerQueue.async {
                switch result {
                case .success(let reply): handler(reply, nil)
                case .failure(let error as HTTPBody.TooLong):
                    handler(nil, BearerSessionError.bodyTooLong(limit: error.limit))
                case .failure(let error): handler(nil, error)
                }
            }
        }
        registration?.onCancel { [weak task] in task?.cancel() }
        return task
    }
}

extension BearerSession: CustomStringConvertible, CustomReflectable {
    /// Where the token may go; never a header field of the configuration.
    public var description: String { "BearerSession(\(rules))" }

    /// A mirror without the configuration, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origins": rules.description], displayStyle: .class) }
}
