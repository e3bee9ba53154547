public import AccessTokenAsync
import AccessTokenCore
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a token, for `async` code, in the shape of `URLSession`.
///
/// Each module has a session of its own, with its own configuration and time-outs; all of them share one service.
///
/// ```swift
/// let session = AsyncBearerSession(tokens: service, origins: [apiURL])
/// let (data, response) = try await session.data(from: apiURL.appending(path: "friends"))
/// ```
///
/// - A request gets `Authorization: Bearer` with the service's token. After a 401, with or without a challenge, the token
///   that was sent is invalidated, and the request is sent once again with the next one. A second 401 goes to the caller,
///   and so does a 403. A body that comes from a stream can't be sent again: that 401 goes to the caller.
/// - The token goes to the session's origins only (scheme, host and port), by `https` or within this machine. A request
///   that leads elsewhere is an error. Redirects are followed, without the token from the first one on that leads to
///   another origin; one from `https` to `http` is not followed, and is the reply.
/// - A request with an `Authorization` field of its own is an error.
/// - A reply is read into memory up to a limit; a download goes to a file, and has none. There is no `bytes(for:)`:
///   `URLSession` on Linux cannot hold a server back, so that a slow reader would fill the memory. Download to a file.
/// - A request's delegate is told how much of a body was sent (`urlSession(_:task:didSendBodyData:…)`) and, on Apple
///   platforms, of the task (`urlSession(_:didCreateTask:)`, for its `progress`) and its metrics, for each attempt that
///   ends by itself. It decides nothing: redirects and challenges are the session's, and its other methods are not called.
///   To cancel, cancel your own task: a `URLSessionTask` that is cancelled on Linux can end the process.
///
/// **Concurrency** Can be used from any thread.
///
/// **Cancellation** Throws `URLError.cancelled` at once, as `URLSession` does. It touches no other request, and no load.
/// On Linux the connection closes when the reply begins, or when the server has been silent for the configuration's
/// time-out: `URLSession` there can crash if it has to sooner. An upload goes on until then.
///
/// **Failure** What the service or `URLSession` throws, unchanged; ``BearerSessionError``. A status is no error.
///
/// **On Linux**
/// - Each request has a connection of its own, with some three descriptors. So many are open to a host at once as
///   `httpMaximumConnectionsPerHost` allows, not counting those of requests that were cancelled or timed out; the
///   other requests wait. Time-outs count in whole seconds.
/// - A file that is uploaded is read into memory, and what comes faster than it can be written waits there.
/// - All sessions of a process read in one queue: a body without end that comes as fast as memory holds up the others.
/// - A proxy is taken from the environment (`http_proxy`, `https_proxy`) also for the loopback address, unless `no_proxy`
///   exempts it.
/// - Some errors have other codes: a connection that is lost is `badServerResponse`, a body that ends too early `unknown`.
public final class AsyncBearerSession: Sendable {
    /// How many bytes of a reply are read into memory if nothing else is said: 64 MiB.
    public static let usualBodyLimit = 64 << 20

    private let tokens: any AsyncAccessTokenProviding
    private let rules: BearerRules
    private let connections: HTTPConnections
    private let bodyLimit: Int
    private let tasks = SessionTasks()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - tokens: the service, or a view of one.
    ///   - origins: where the token may go; of each URL only scheme, host and port count.
    ///   - configuration: the session's own, not for the background; it is copied. `timeoutIntervalForRequest` and
    ///     `timeoutIntervalForResource` count for each attempt by itself, and not while a token is waited for.
    ///   - bodyLimit: bytes of a reply that are read into memory; more of them are an error,
    ///     ``BearerSessionError/bodyTooLong(limit:)``. A download has no limit.
    ///   - allowsInsecureHTTP: whether the token may go to such an origin by plain `http`; on this machine it always may.
    public init(
        tokens: any AsyncAccessTokenProviding,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = AsyncBearerSession.usualBodyLimit,
        allowsInsecureHTTP: Bool = false
    ) {
        self.tokens = tokens
        rules = BearerRules(origins: origins, allowsInsecureHTTP: allowsInsecureHTTP, configuration: configuration)
        connections = HTTPConnections(configuration)
        self.bodyLimit = max(0, bodyLimit)
    }

    /// Cancels the session's requests, and lets it take no more; other sessions and their loads go on.
    ///
    /// Requests that are under way throw `URLError.cancelled` at once. Later ones throw
    /// ``BearerSessionError/sessionInvalidated``.
    public func invalidateAndCancel() {
        tasks.invalidateAndCancel()
    }

    /// Lets the session take no more requests; those that are under way go on to their end.
    public func finishTasksAndInvalidate() {
        tasks.invalidate()
    }

    // Each of these is there without a delegate as well: a default argument would not meet a protocol's requirement.

    /// The reply to a request, its body in memory.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await data(for: request, delegate: nil)
    }

    /// The reply to a request, its body in memory; a delegate is told of the progress.
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let reply = try await reply(to: request, .ofRequest, .memory(limit: bodyLimit), delegate)
        return (reply.body, reply.response)
    }

    /// What is at a URL, in memory.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// The reply to a request with this body.
    public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        try await upload(for: request, from: bodyData, delegate: nil)
    }

    /// The reply to a request with this body; a delegate is told of the progress.
    public func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let reply = try await reply(to: request, .data(bodyData), .memory(limit: bodyLimit), delegate)
        return (reply.body, reply.response)
    }

    /// The reply to a request whose body is in a file.
    public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        try await upload(for: request, fromFile: fileURL, delegate: nil)
    }

    /// The reply to a request whose body is in a file; a delegate is told of the progress.
    public func upload(
        for request: URLRequest,
        fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let reply = try await reply(to: request, .file(fileURL), .memory(limit: bodyLimit), delegate)
        return (reply.body, reply.response)
    }

    /// The reply to a request, its body in a new file, which is yours: move it, or remove it.
    public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
        try await download(for: request, delegate: nil)
    }

    /// The reply to a request, its body in a new file, which is yours; a delegate is told of the progress.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        let reply = try await reply(to: request, .ofRequest, .file, delegate)
        guard let file = reply.file else { throw URLError(.cannotCreateFile) }
        return (file.giveAway(), reply.response)
    }

    /// What is at a URL, in a new file, which is yours: move it, or remove it.
    public func download(from url: URL) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }

    // MARK: Actions

    private func reply(
        to request: URLRequest,
        _ upload: HTTPUpload,
        _ destination: HTTPBody.Destination,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> HTTPReply {
        guard let registration = tasks.register() else { throw BearerSessionError.sessionInvalidated }
        defer { registration.end() }
        let machine = BearerStateMachine(request, uploading: upload, by: rules)
        // A task of its own, which the session can cancel as well as the caller.
        let task = Task { try await carryOut(machine, destination, delegate) }
        registration.onCancel { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where task.isCancelled {
            throw URLError(.cancelled)
        } catch let error as HTTPBody.TooLong {
            throw BearerSessionError.bodyTooLong(limit: error.limit)
        }
    }

    private func carryOut(
        _ machine: consuming BearerStateMachine,
        _ destination: HTTPBody.Destination,
        _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> HTTPReply {
        var action = machine.start()
        while true {
            try Task.checkCancellation()
            switch action {
            case .retrieveToken:
                action = machine.tokenRetrieved(try await tokens.token())
            case .send(let request, let upload):
                let exchange = HTTPExchange(request, uploading: upload, to: destination, delegate: delegate)
                action = machine.replied(try await exchange.reply(over: connections))
            case .invalidate(let token):
                await tokens.invalidate(token)
                action = machine.invalidated()
            case .finish(let reply):
                return reply
            case .fail(let error):
                throw error
            }
        }
    }
}

extension AsyncBearerSession: CustomStringConvertible, CustomReflectable {
    /// Where the token may go; never a header field of the configuration.
    public var description: String { "AsyncBearerSession(\(rules))" }

    /// A mirror without the configuration, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origins": rules.description], displayStyle: .class) }
}

extension HTTPExchange {
    @concurrent
    fileprivate func reply(over connections: HTTPConnections) async throws -> HTTPReply {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                start(over: connections) { continuation.resume(with: $0) }
            }
        } onCancel: {
            abandon()
        }
    }
}
