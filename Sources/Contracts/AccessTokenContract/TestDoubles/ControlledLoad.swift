public import AccessTokenAdapters
import AccessTokenSynchronization
import ContractHarness

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

    init(number: Int, replacing: AccessToken?, beside: Int?, handler: @escaping AccessTokenHandler, log: RunLog) {
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

    /// Nobody waits for the answer any more: if there is none yet, the service has cancelled the task that did.
    func cancel() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { log.happened("load \(number) is cancelled by the service") }
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
