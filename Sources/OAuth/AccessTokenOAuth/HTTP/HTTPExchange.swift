import AccessTokenSynchronization
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends one request, and hands over its reply, or the reason why there is none, exactly once.
///
/// It follows no redirect and gives no password away. The caller can leave at any time; the connection then closes as
/// soon as that is safe. On Linux it is safe once the reply has begun, or the time of the exchange is over: to cancel a
/// task at the moment in which its connection is refused crashes the process, or stops it for ever.
final class HTTPExchange: NSObject, Sendable {
    typealias Outcome = Result<HTTPReply, HTTPFailure>

    /// The caller, and what has come for it so far.
    private struct Wait {
        let handler: OneShot<Outcome>
        var timer: AccessTokenTimer?
        var place: ConnectionGate.Place?
        var hasSentBody = false
        var response: HTTPURLResponse?
        var body = Data()

        func failure(_ cause: any Error) -> Outcome {
            .failure(HTTPFailure(cause: cause, response: response, hasSentBody: hasSentBody))
        }
    }

    private enum Connection {
        case unused
        case sending(URLSessionTask)
        case replying(URLSessionTask)
        case closed
    }

    private struct State {
        /// `nil` once the caller was answered.
        var wait: Wait?
        var connection = Connection.unused
        /// The request must not leave any more: somebody else may send the same refresh token.
        var isOverdue = false
    }

    /// The parts in which the time of an exchange is counted, each half of what is left; the last two are equal.
    private static let parts = 6

    let challengeHandler: URLAuthenticationChallengeHandler?
    private let request: URLRequest
    private let bodyLimit: Int
    private let sign: @Sendable (inout URLRequest) throws -> Void
    private let state: Locked<State>

    /// Creates an exchange that sends nothing yet, and will read `bodyLimit` bytes; the handler is called once, on any
    /// thread.
    ///
    /// - Parameter sign: completes the request when there is a connection for it: what it adds may be good for seconds.
    init(
        _ request: URLRequest,
        bodyLimit: Int,
        challengeHandler: URLAuthenticationChallengeHandler? = nil,
        signing sign: @escaping @Sendable (inout URLRequest) throws -> Void = { _ in },
        then handler: @escaping @Sendable (Outcome) -> Void
    ) {
        self.request = request
        self.sign = sign
        self.bodyLimit = bodyLimit
        self.challengeHandler = challengeHandler
        // A session that drops its delegate without a word must leave no caller waiting for ever.
        let abandoned = HTTPFailure(cause: URLError(.unknown), response: nil, hasSentBody: true)
        state = Locked(State(wait: Wait(handler: OneShot(abandoned: .failure(abandoned), handler))))
    }

    /// Sends the request as soon as there is a place for its connection, unless the caller has left.
    ///
    /// - Parameter clock: counts the time limit of the connections, which `URLSession` on Linux does not do.
    func start(over connections: HTTPConnections, by clock: any AccessTokenClock = SystemClock()) {
        guard count(Self.parts, of: connections.timeLimit, by: clock) else { return }
        connections.gate.enter { place in self.send(over: connections, at: place) }
    }

    /// Leaves after so many seconds, counted in so many parts.
    ///
    /// A process that was stopped, as an app in the background is, has its timers fire before it reads what has come
    /// meanwhile. Counted in parts, the stop costs the rest of one of them, and the reply is read in the next one; but
    /// for a stop in the last part, which is short.
    ///
    /// - Returns: whether the caller still waits.
    @discardableResult
    private func count(_ parts: Int, of seconds: TimeInterval, by clock: any AccessTokenClock) -> Bool {
        let part = parts > 1 ? seconds / 2 : seconds
        let timer = clock.schedule(after: part) { [weak self] in
            if parts > 1 {
                self?.count(parts - 1, of: seconds - part, by: clock)
            } else {
                self?.state.withLock { $0.isOverdue = true }
                self?.leave(with: URLError(.timedOut))
            }
        }
        let isWanted = state.withLock { state in
            state.wait?.timer = timer
            return state.wait != nil
        }
        if !isWanted { timer.cancel() }
        return isWanted
    }

    private func send(over connections: HTTPConnections, at place: ConnectionGate.Place) {
        let isWanted = state.withLock { state in
            state.wait?.place = place
            return state.wait != nil
        }
        guard isWanted else { return }
        var signed = request
        do { try sign(&signed) } catch { return end { $0.failure(error) } }
        // The caller may have left meanwhile, and another request may go in its place.
        guard state.withLock({ $0.wait != nil }) else { return }
        let task = connections.start(signed, reportingTo: self)
        state.withLock { state in
            // The reply may have begun meanwhile, or may be over.
            if case .unused = state.connection { state.connection = .sending(task) }
        }
        closeIfUnwanted()
    }

    /// Answers the caller at once, and closes the connection when that is safe.
    func abandon() {
        leave(with: URLError(.cancelled))
    }

    private func leave(with cause: any Error) {
        end { $0.failure(cause) }
        closeIfUnwanted()
    }

    /// Answers the caller, unless it was answered before.
    private func end(_ outcome: (Wait) -> Outcome) {
        // What the wait holds is released outside of the lock.
        guard let wait = state.withLock({ $0.wait.take() }) else { return }
        wait.timer?.cancel()
        wait.handler(outcome(wait))
    }

    private func closeIfUnwanted() {
        let unwanted = state.withLock { state -> URLSessionTask? in
            guard state.wait == nil else { return nil }
            switch state.connection {
            case .replying(let task):
                state.connection = .closed
                return task
            case .sending(let task):
                #if canImport(FoundationNetworking)
                guard state.isOverdue else { return nil }
                #endif
                state.connection = .closed
                return task
            case .unused, .closed: return nil
            }
        }
        guard let unwanted else { return }
        #if canImport(FoundationNetworking)
        // This waits until the socket is dry for a moment. In the delegate's queue it would wait for ever.
        Thread.detachNewThread { unwanted.cancel() }
        #else
        unwanted.cancel()
        #endif
    }

    // MARK: What the connection says

    func noteSentBody() {
        state.withLock { $0.wait?.hasSentBody = true }
    }

    func take(_ response: URLResponse, of task: URLSessionTask) {
        guard let response = response as? HTTPURLResponse else { return }
        // URLSession on Linux reports interim responses (RFC 9110, section 15.2) as well as the real one.
        let isInterim = (100...199).contains(response.statusCode)
        // To a HEAD, and with a 304, the length is that of a body that does not come (RFC 9110, section 8.6).
        let hasBody = request.httpMethod != "HEAD" && response.statusCode != 304
        let isTooLong = state.withLock { state in
            switch state.connection {
            case .unused, .sending: state.connection = .replying(task)
            case .replying, .closed: break
            }
            guard !isInterim, state.wait != nil, state.wait?.response == nil else { return false }
            state.wait?.response = response
            return hasBody && response.expectedContentLength > Int64(bodyLimit)
        }
        if isTooLong { leave(with: HTTPBodyTooLong()) } else { closeIfUnwanted() }
    }

    func take(_ data: Data) {
        let isTooLong = state.withLock { state in
            guard let count = state.wait?.body.count else { return false }
            guard data.count <= bodyLimit - count else { return true }
            state.wait?.body.append(data)
            return false
        }
        if isTooLong { leave(with: HTTPBodyTooLong()) }
    }

    func complete(_ error: (any Error)?) {
        state.withLock { $0.connection = .closed }
        end { wait in
            // A rejected challenge completes as cancelled, with status and body in hand. Nothing else cancels a task
            // whose caller still waits.
            let isRejectedChallenge = (error as? URLError)?.code == .cancelled && wait.response != nil
            guard error == nil || isRejectedChallenge, let response = wait.response else {
                return wait.failure(error ?? URLError(.badServerResponse))
            }
            return .success(HTTPReply(response: response, body: wait.body))
        }
    }
}

/// A whole reply.
struct HTTPReply: Sendable {
    let response: HTTPURLResponse
    let body: Data
}

/// Why there is no whole reply.
struct HTTPFailure: Error {
    let cause: any Error
    /// The head of the reply, if that came: a status counts without its body, too.
    let response: HTTPURLResponse?
    /// Whether any of the request's body has left this process.
    let hasSentBody: Bool
}

/// The reply has more bytes than the limit.
struct HTTPBodyTooLong: Error {}
