import AccessTokenAdapters
import Dispatch
import Foundation

/// One caller of the service under test, and all that it was told.
final class Caller: Sendable {
    struct Answer: Sendable {
        let result: Result<AccessToken, any Error>
        let wasOnPromisedQueue: Bool
        let cameInsideTheCall: Bool
    }

    private struct State {
        var answers: [Answer] = []
        var cancel: (@Sendable () -> Void)?
        /// The thread that is inside the call at present.
        var callingThread: ObjectIdentifier?
    }

    let name: String
    private let changes: Changes
    private let react: (@Sendable (Result<AccessToken, any Error>) -> Void)?
    private let state = Locked(State())

    init(name: String, changes: Changes, react: (@Sendable (Result<AccessToken, any Error>) -> Void)?) {
        self.name = name
        self.changes = changes
        self.react = react
    }

    var details: [Answer] { state.withLock { $0.answers } }
    var answers: [Result<AccessToken, any Error>] { details.map(\.result) }

    func start(_ retrieve: (@escaping AccessTokenHandler) -> (@Sendable () -> Void)?) {
        state.withLock { $0.callingThread = ObjectIdentifier(Thread.current) }
        let cancel = retrieve { [self] result in take(result) }
        state.withLock { state in
            state.callingThread = nil
            state.cancel = cancel
        }
    }

    func cancel() {
        changes.happened("\(name) is cancelled")
        state.withLock { $0.cancel }?()
    }

    /// Lets go of what cancels the call, which may hold the service.
    func forgetCancel() {
        _ = state.withLock { $0.cancel.take() }
    }

    private func take(_ result: Result<AccessToken, any Error>) {
        let wasOnPromisedQueue = DeliveryMark.isHere
        state.withLock { state in
            let cameInsideTheCall = state.callingThread == ObjectIdentifier(Thread.current)
            state.answers.append(
                Answer(
                    result: result,
                    wasOnPromisedQueue: wasOnPromisedQueue,
                    cameInsideTheCall: cameInsideTheCall
                )
            )
        }
        switch result {
        case .success(let token): changes.happened("\(name) gets \(changes.name(token))")
        case .failure(let error): changes.happened("\(name) gets \(error.inReports)")
        }
        react?(result)
        changes.check()
    }
}

/// Callers that were started while others were answered.
final class CallerList: Sendable {
    private let list = Locked<[Caller]>([])

    var callers: [Caller] { list.withLock { $0 } }

    func append(_ caller: Caller) {
        list.withLock { $0.append(caller) }
    }
}
