public import AccessTokenAdapters

/// One load of a ``ControlledLoader``.
public final class ControlledLoad: Sendable {
    private struct State {
        var handler: AccessTokenHandler?
        var isOpen = true
    }

    /// Counts from 1.
    public let number: Int

    /// The token that the service said is no good any more.
    public let replacing: AccessToken?

    /// A load that was running when this one was started.
    let beside: Int?

    private let state: Locked<State>
    private let log: RunLog

    init(
        number: Int,
        replacing: AccessToken?,
        beside: Int?,
        handler: @escaping AccessTokenHandler,
        log: RunLog
    ) {
        self.number = number
        self.replacing = replacing
        self.beside = beside
        self.log = log
        state = Locked(State(handler: handler))
    }

    /// It has no answer yet, and its service has not cancelled it.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Answers; calling it again is how a loader misbehaves.
    public func answer(_ result: Result<AccessToken, any Error>) {
        let handler = state.withLock { state in
            state.isOpen = false
            return state.handler
        }
        switch result {
        case .success(let token): log.happened("load \(number) answers \(log.name(token))")
        case .failure(let error): log.happened("load \(number) answers the error \(error)")
        }
        handler?(result)
    }

    /// Forgets the callback without calling it, which is how a loader misbehaves.
    public func abandon() {
        log.happened("load \(number) drops its callback")
        // The callback leaves the lock before it is released: it may have much to do then.
        _ = state.withLock { state in
            state.isOpen = false
            return state.handler.take()
        }
    }

    /// The service has cancelled the task that waits for the answer.
    func cancel() {
        state.withLock { $0.isOpen = false }
        log.happened("load \(number) is cancelled by the service")
    }
}

/// The error with which a controlled load fails; equal only to that of the same load.
public struct ContractLoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether it is worth trying again.
    public enum Kind: Hashable, Sendable {
        /// As a network that is away for a moment.
        case transient
        /// As a server that refuses the credential.
        case permanent
    }

    /// The load that failed.
    public let number: Int

    /// Whether it is worth trying again; a subject whose own errors differ in this maps one kind to each.
    public let kind: Kind

    /// Creates the error of a load.
    public init(number: Int, kind: Kind = .transient) {
        self.number = number
        self.kind = kind
    }

    /// Names the load.
    public var description: String { "of load \(number)" }
}

/// What a load will bring, for one task that waits for it; the first answer counts, or the task's cancellation.
final class AsyncAnswer: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<AccessToken, any Error>)
        case answered(Result<AccessToken, any Error>)
    }

    private let state = Locked(State.empty)

    /// Says whether the answer was the first.
    @discardableResult
    func set(_ result: Result<AccessToken, any Error>) -> Bool {
        let previous = state.withLock { state in
            defer { if case .answered = state {} else { state = .answered(result) } }
            return state
        }
        switch previous {
        case .empty: return true
        case .awaited(let continuation):
            continuation.resume(with: result)
            return true
        case .answered: return false
        }
    }

    func value(onCancel: (@Sendable () -> Void)?) async throws -> AccessToken {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let present = state.withLock { state -> Result<AccessToken, any Error>? in
                    if case .answered(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let present { continuation.resume(with: present) }
            }
        } onCancel: {
            if let onCancel, set(.failure(CancellationError())) { onCancel() }
        }
    }
}
