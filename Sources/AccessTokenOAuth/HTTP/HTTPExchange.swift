import AccessTokenAsync
import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request and its reply: follows no redirect, and answers no challenge.
///
/// Whoever waits for the reply can be let go at any time. The connection is then closed as soon as that is safe: on
/// Linux, to cancel a task whose connection is being refused crashes the process, or stops it for ever, so that there
/// the reply must have begun.
final class HTTPExchange: NSObject, Sendable {
    typealias Handler = @Sendable (Result<HTTPReply, any Error>) -> Void

    private struct State {
        /// `nil` before the start, and once it was called.
        var handler: OneShot<Result<HTTPReply, any Error>>?
        var task: URLSessionTask?
        var timer: AccessTokenTimer?
        var response: HTTPURLResponse?
        var body: HTTPBody
        var hasReplied = false
        /// Nobody waits for the reply any more.
        var isOver = false
        var isStopped = false

        mutating func end() -> (OneShot<Result<HTTPReply, any Error>>?, AccessTokenTimer?) {
            isOver = true
            defer { (handler, timer) = (nil, nil) }
            return (handler, timer)
        }
    }

    private let request: URLRequest
    private let upload: HTTPUpload
    private let state: Locked<State>

    init(_ request: URLRequest, uploading upload: HTTPUpload = .ofRequest, to destination: HTTPBody.Destination) {
        self.request = request
        self.upload = upload
        state = Locked(State(body: HTTPBody(to: destination)))
    }

    /// Sends the request, unless nobody wants a reply any more.
    ///
    /// - Parameters:
    ///   - clock: counts the configuration's `timeoutIntervalForResource`, which does nothing on Linux by itself.
    ///   - handler: called once, on any thread.
    func start(
        over connections: HTTPConnections,
        by clock: any AccessTokenClock = SystemTaskClock(),
        then handler: @escaping Handler
    ) {
        // A session that drops its delegate without a word must leave nobody waiting for ever.
        let handler = OneShot<Result<HTTPReply, any Error>>(abandoned: .failure(URLError(.unknown)), handler)
        let isWanted = state.withLock { state in
            if !state.isOver { state.handler = handler }
            return !state.isOver
        }
        guard isWanted else {
            handler(.failure(URLError(.cancelled)))
            return
        }
        do {
            let task = try connections.start(request, uploading: upload, reportingTo: self)
            let timer = clock.schedule(after: connections.timeLimit) { [weak self] in
                self?.abandon(with: URLError(.timedOut))
            }
            let isOver = state.withLock { state in
                if !state.isOver { (state.task, state.timer) = (task, timer) }
                return state.isOver
            }
            guard isOver else { return }
            timer.cancel()
            stopIfSafe(task)
        } catch {
            end(with: .failure(error))
        }
    }

    /// Answers whoever waits with this error, at once, and closes the connection when that can be done.
    func abandon(with error: any Error = URLError(.cancelled)) {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        end(with: .failure(error))
        if let task { stopIfSafe(task) }
    }

    // MARK: What the connection says

    func take(_ response: URLResponse, of task: URLSessionTask) {
        guard let response = response as? HTTPURLResponse else { return }
        let isAcceptable = state.withLock { state in
            state.hasReplied = true
            guard state.response == nil, !state.isOver else { return true }
            state.response = response
            return state.body.accepts(response.expectedContentLength)
        }
        if isAcceptable { stopIfUnwanted(task) } else { abandon(with: HTTPBody.TooLong()) }
    }

    func take(_ data: Data, of task: URLSessionTask) {
        let failure: (any Error)? = state.withLock { state in
            guard !state.isOver else { return nil }
            do {
                try state.body.append(data)
                return nil
            } catch {
                return error
            }
        }
        if let failure { abandon(with: failure) }
    }

    func complete(_ error: (any Error)?) {
        let result: Result<HTTPReply, any Error> = state.withLock { state in
            (state.task, state.isStopped) = (nil, true)
            // A rejected challenge completes as cancelled, with status and body in hand; nobody else cancels.
            if let error, (error as? URLError)?.code != .cancelled { return .failure(error) }
            guard let response = state.response else { return .failure(error ?? URLError(.badServerResponse)) }
            return Result { try state.body.reply(with: response) }
        }
        end(with: result)
    }

    private func end(with result: Result<HTTPReply, any Error>) {
        let (handler, timer) = state.withLock { $0.end() }
        timer?.cancel()
        handler?(result)
    }

    // MARK: Closing the connection

    private func stopIfUnwanted(_ task: URLSessionTask) {
        if state.withLock({ $0.isOver }) { stopIfSafe(task) }
    }

    private func stopIfSafe(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
        let isFirst = state.withLock { state in
            guard state.hasReplied, !state.isStopped else { return false }
            state.isStopped = true
            return true
        }
        guard isFirst else { return }
        // This waits until the socket is dry for a moment. In the delegate's queue it would wait for ever.
        Thread.detachNewThread { task.cancel() }
        #else
        task.cancel()
        #endif
    }
}
