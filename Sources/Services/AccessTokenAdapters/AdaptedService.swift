import AccessTokenCore
import AccessTokenSynchronization

/// A service behind a ``CallbackServiceAdapter``: one type for each way to call a service.
protocol AdaptedService: Sendable {
    /// The current token, unless it might overtake a call that the service has not seen yet.
    var freshToken: AccessToken? { get }

    /// Asks for a token.
    ///
    /// Before `cancelled` fires, the caller has been answered.
    func retrieveToken(_ answer: OneShot<LoadResult>, until cancelled: Latch)

    func invalidate(_ rejected: AccessToken)

    func signOut(then finish: OneShot<Void>)

    /// Makes a call that no later call overtakes: those begin when it has returned.
    ///
    /// Over a callback service, only later calls of this function wait for it.
    func callInOrder(_ call: @escaping @Sendable () async -> Void)

    /// Returns when the calls that were made before have reached the service, if it can tell.
    ///
    /// - Parameter isCancellable: whether the cancellation of the task ends the wait.
    nonisolated(nonsending) func callsHaveReachedIt(isCancellable: Bool) async
}

/// For services whose calls need not be waited for, or cannot be: each token is asked of the service itself.
extension AdaptedService {
    var freshToken: AccessToken? { nil }

    nonisolated(nonsending) func callsHaveReachedIt(isCancellable: Bool) async {}
}
