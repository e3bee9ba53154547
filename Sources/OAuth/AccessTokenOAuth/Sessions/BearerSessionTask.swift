import AccessTokenCore
import AccessTokenGCD

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A request of a ``BearerSession``, which is sent when it is resumed.
///
/// **Concurrency** Can be used from any thread.
public final class BearerSessionTask: Sendable {
    private struct State {
        /// `nil` if the session takes no more requests.
        var machine: BearerStateMachine?
        /// `nil` once it was called.
        var handler: (@Sendable (Result<HTTPReply, any Error>) -> Void)?
        var isResumed = false
        var delegate: (any URLSessionTaskDelegate)?
        /// Counts the actions, so that what one of them leaves behind does not pass for that of the next.
        var step = 0
        var cancelStep: (@Sendable () -> Void)?
    }

    private let destination: HTTPBody.Destination
    private let tokens: any AccessTokenProviding
    private let connections: HTTPConnections
    /// Ends with the task.
    private let registration: SessionTasks.Registration?
    private let state: Locked<State>

    init(
        _ machine: BearerStateMachine?,
        to destination: HTTPBody.Destination,
        tokens: any AccessTokenProviding,
        connections: HTTPConnections,
        registration: SessionTasks.Registration?,
        then handler: @escaping @Sendable (Result<HTTPReply, any Error>) -> Void
    ) {
        self.destination = destination
        self.tokens = tokens
        self.connections = connections
        self.registration = registration
        state = Locked(State(machine: machine, handler: handler))
    }

    /// Told of the task's progress, as a delegate of ``AsyncBearerSession`` is; the task holds it until its end.
    ///
    /// Set it before ``resume()``: an attempt that has begun does not notice.
    public var delegate: (any URLSessionTaskDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            // What was replaced leaves the lock before it is released.
            _ = state.withLock { state -> (any URLSessionTaskDelegate)? in
                guard state.handler != nil else { return nil }
                defer { state.delegate = newValue }
                return state.delegate
            }
        }
    }

    /// Sends the request; a second time does nothing, and neither does it after ``cancel()``.
    public func resume() {
        let isFirst = state.withLock { state in
            defer { state.isResumed = true }
            return !state.isResumed
        }
        if isFirst { decide { $0.start() } }
    }

    /// Has the handler called at once with `URLError.cancelled`; does nothing if its answer was on its way before.
    ///
    /// It touches no other request, and no load.
    public func cancel() {
        finish(with: .failure(URLError(.cancelled)))
    }

    // MARK: Decisions and actions

    /// Lets the state machine decide, unless the caller has its answer, and carries the action out.
    private func decide(_ input: (inout BearerStateMachine) -> BearerAction) {
        let (action, step): (BearerAction?, Int) = state.withLock { state in
            guard state.handler != nil else { return (nil, 0) }
            state.step += 1
            state.cancelStep = nil
            guard var machine = state.machine.take() else {
                return (.fail(BearerSessionError.sessionInvalidated), state.step)
            }
            let action = input(&machine)
            state.machine = machine
            return (action, state.step)
        }
        switch action {
        case .retrieveToken: retrieveToken(step)
        case .send(let request, let upload): send(request, upload, step)
        case .invalidate(let token):
            tokens.invalidate(token)
            decide { $0.invalidated() }
        case .finish(let reply): finish(with: .success(reply))
        case .fail(let error): finish(with: .failure(error))
        case nil: break
        }
    }

    private func retrieveToken(_ step: Int) {
        let answer = OneShot<Result<AccessToken, any Error>>(
            abandoned: .failure(AccessTokenError.loadAbandoned)
        ) { [self] result in
            switch result {
            case .success(let token): decide { $0.tokenRetrieved(token) }
            case .failure(let error): finish(with: .failure(error))
            }
        }
        let retrieval = tokens.retrieveToken { answer($0) }
        cancel(step, by: retrieval.cancel)
    }

    private func send(_ request: URLRequest, _ upload: HTTPUpload, _ step: Int) {
        let exchange = HTTPExchange(request, uploading: upload, to: destination, delegate: delegate)
        cancel(step) { exchange.abandon() }
        exchange.start(over: connections) { [self] result in
            switch result {
            case .success(let reply): decide { $0.replied(reply) }
            case .failure(let error): finish(with: .failure(error))
            }
        }
    }

    /// Says what cancels a step, and does it if the caller has gone meanwhile.
    private func cancel(_ step: Int, by cancelStep: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.step == step, state.handler != nil { state.cancelStep = cancelStep }
            return state.handler == nil
        }
        if isOver { cancelStep() }
    }

    private func finish(with result: Result<HTTPReply, any Error>) {
        let (handler, cancelStep, delegate) = state.withLock { state in
            defer { (state.handler, state.cancelStep, state.delegate) = (nil, nil, nil) }
            return (state.handler, state.cancelStep, state.delegate)
        }
        handler?(result)
        cancelStep?()
        withExtendedLifetime(delegate) {}
    }
}

extension BearerSessionTask: CustomStringConvertible, CustomReflectable {
    /// What the task is; never what it sends.
    public var description: String { "BearerSessionTask" }

    /// A mirror without request and token, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .class) }
}
