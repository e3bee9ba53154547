public import AccessTokenAdapters

/// One load of a ``ControlledLoader``.
public final class ControlledLoad: Sendable {
    /// Counts from 1.
    public let number: Int

    /// The token that the service said is no good any more.
    public let replacing: AccessToken?

    private let handler: Locked<AccessTokenHandler?>
    private let changes: Changes

    init(number: Int, replacing: AccessToken?, handler: @escaping AccessTokenHandler, changes: Changes) {
        self.number = number
        self.replacing = replacing
        self.handler = Locked(handler)
        self.changes = changes
    }

    /// Answers; calling it again is how a loader misbehaves.
    public func answer(_ result: Result<AccessToken, any Error>) {
        switch result {
        case .success(let token): changes.happened("load \(number) answers \(changes.name(token))")
        case .failure(let error): changes.happened("load \(number) answers the error \(error)")
        }
        handler.withLock { $0 }?(result)
    }

    /// Forgets the callback without calling it, which is how a loader misbehaves.
    public func abandon() {
        changes.happened("load \(number) drops its callback")
        // The callback leaves the lock before it is released: it may have much to do then.
        _ = handler.withLock { $0.take() }
    }
}
