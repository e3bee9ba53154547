import AccessTokenCore
import AccessTokenGCD
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
        var delegate: (any URLSessionTaskDelegate)?
        var place: ConnectionGate.Place?
        var hasReplied = false
        var hasSentBody = false
        var hasRejectedChallenge = false
        /// Nobody waits for the reply any more.
        var isOver = false
        var isStopped = false

        /// Returns the state as it was, so that what it let go of is released outside of the lock.
        mutating func end() -> State {
            isOver = true
            defer {
                (handler, timer, delegate, place) = (nil, nil, nil, nil)
                body = HTTPBody(to: .memory(limit: 0))
            }
            return self
        }

        /// What a failure leaves: the head of the reply if that is there, for a status counts also without a whole body.
        func result(of error: any Error) -> Result<HTTPReply, any Error> {
            response.map { .success(HTTPReply(response: $0, failure: error)) } ?? .failure(error)
        }
    }

    private let request: URLRequest
    private let upload: HTTPUpload
    let challengeHandler: URLAuthenticationChallengeHandler?
    private let state: Locked<State>

    init(
        _ request: URLRequest,
        uploading upload: HTTPUpload = .ofRequest,
        to destination: HTTPBody.Destination,
        delegate: (any URLSessionTaskDelegate)? = nil,
        challengeHandler: URLAuthenticationChallengeHandler? = nil
    ) {
        self.request = request
        self.upload = upload
        self.challengeHandler = challengeHandler
        state = Locked(State(body: HTTPBody(to: destination), delegate: delegate))
    }

    /// Who is told of the progress: nobody any more once the reply was handed over.
    var delegate: (any URLSessionTaskDelegate)? { state.withLock { $0.delegate } }

    /// Whether any of the request's body has left this process.
    var hasSentBody: Bool { state.withLock { $0.hasSentBody } }

    /// Sends the request as soon as there is a place for its connection, unless nobody wants a reply any more.
    ///
    /// - Parameters:
    ///   - clock: counts the configuration's `timeoutIntervalForResource`, which does nothing on Linux by itself. It is
    ///     a week where nobody has set it, and a sleeping task that is cancelled leaves memory behind for as long.
    ///   - handler: called once, on any thread.
    func start(
        over connections: HTTPConnections,
        by clock: any AccessTokenClock = SystemClock(),
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
        let timer = clock.schedule(after: connections.timeLimit) { [weak self] in
            self?.fail(with: URLError(.timedOut))
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        guard !isOver else { return timer.cancel() }
        connections.whenFree(for: request) { place in self.send(over: connections, at: place) }
    }

    private func send(over connections: HTTPConnections, at place: ConnectionGate.Place?) {
        let isWanted = state.withLock { state in
            if !state.isOver { state.place = place }
            return !state.isOver
        }
        guard isWanted else { return }
        do {
            let task = try connections.start(request, uploading: upload, reportingTo: self)
            let isOver = state.withLock { state in
                if !state.isOver { state.task = task }
                return state.isOver
            }
            if isOver { stopIfSafe(task) }
        } catch {
            end(with: .failure(error))
        }
    }

    /// Answers whoever waits, at once, and closes the connection when that can be done.
    func abandon() {
        stop(with: .failure(URLError(.cancelled)))
    }

    private func fail(with error: any Error) {
        stop(with: state.withLock { $0.result(of: error) })
    }

    private func stop(with result: Result<HTTPReply, any Error>) {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        end(with: result)
        if let task { stopIfSafe(task) }
    }

    // MARK: What the connection says

    func take(_ response: URLResponse, of task: URLSessionTask) {
        guard let response = response as? HTTPURLResponse else { return }
        // URLSession on Linux reports interim responses (RFC 9110, section 15.2) as well as the real one.
        let isInterim = (100...199).contains(response.statusCode)
        let refusal = state.withLock { state -> HTTPBody.TooLong? in
            state.hasReplied = true
            guard !isInterim, state.response == nil, !state.isOver else { return nil }
            state.response = response
            // To a HEAD, and with a 304, the length is that of a body that does not come (RFC 9110, section 8.6).
            guard request.httpMethod != "HEAD", response.statusCode != 304 else { return nil }
            return state.body.refusal(of: response.expectedContentLength)
        }
        if let refusal { fail(with: refusal) } else { stopIfUnwanted(task) }
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
        if let failure { fail(with: failure) }
    }

    func noteSentBody() {
        state.withLock { $0.hasSentBody = true }
    }

    func noteRejectedChallenge() {
        state.withLock { $0.hasRejectedChallenge = true }
    }

    func complete(_ error: (any Error)?) {
        let result: Result<HTTPReply, any Error> = state.withLock { state in
            (state.task, state.isStopped) = (nil, true)
            if let error, (error as? URLError)?.code != .cancelled { return state.result(of: error) }
            // A rejected challenge completes as cancelled, with status and body in hand. Otherwise a delegate of the
            // request has cancelled the task, and the body may be cut.
            if let error, !state.hasRejectedChallenge { return .failure(error) }
            guard let response = state.response else { return .failure(error ?? URLError(.badServerResponse)) }
            do { return .success(try state.body.reply(with: response)) } catch { return state.result(of: error) }
        }
        end(with: result)
    }

    private func end(with result: Result<HTTPReply, any Error>) {
        let ended = state.withLock { $0.end() }
        ended.timer?.cancel()
        ended.handler?(result)
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
